"""Which cases of a slow test `make quick` takes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def first_of(cases: Iterable[Any]) -> list[Any]:
    """*cases* for ``parametrize``, all but the first of them marked as slow."""
    first, *others = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [pytest.param(*first), *(pytest.param(*case, marks=pytest.mark.slow) for case in others)]
