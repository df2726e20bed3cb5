"""The clauses that have a script rearrange a region, by what its loops allow: see `generate.SCRIPTS`.

Each table is for `transform` clauses alone, or for `annotate` clauses, alone and together with a transform.
"""

from __future__ import annotations

Clauses = tuple[str, ...]


def _transform(function: str, arguments: str = "") -> str:
    return f'transform("schedules", "{function}"{arguments})'


IN_STRIPS: list[Clauses] = [(_transform("strips", ', iname="i"'),)]
IN_STRIPS_ANNOTATED: list[Clauses] = [('annotate("strips", "i")',)]
# A loop over i whose iterations are independent.
LOOP: list[Clauses] = [
    (_transform("groups", ', iname="i"'),),
    (_transform("blocks", ', iname="i"'),),
    (_transform("blocks", ', iname="i", size=4'),),
    *IN_STRIPS,
]
LOOP_ANNOTATED: list[Clauses] = [
    ('annotate("groups", "i")',),
    ('annotate("blocks", "i")',),
    *IN_STRIPS_ANNOTATED,
    ('annotate("strips", "i") annotate("groups", "i_outer")',),
    ('annotate("strips", "i")', _transform("groups", ', iname="i_outer"')),
    ('annotate("strips", "i")', _transform("blocks", ', iname="i_outer", size=2')),
    ('annotate("parallel", "i")', _transform("marked")),
]
# A loop over j in one over i, whose iterations are all independent; where the inner bounds do not depend on i, the
# two loops may trade places.
GRID: list[Clauses] = [(_transform("tiles"),), (_transform("groups"),)]
SWAPPED: list[Clauses] = [(_transform("swapped"),), (_transform("squares"),)]
GRID_ANNOTATED: list[Clauses] = [
    ('annotate("groups", "i")',),
    ('annotate("strips", "j")', _transform("groups")),
    ('annotate("strips", "i")', _transform("tiles", ', outer="i_outer"')),
    ('annotate("parallel", "i")', _transform("marked")),
]
