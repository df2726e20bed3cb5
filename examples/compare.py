"""Compare the residuals that two runs of a solver printed: python3 compare.py A B [NAME-A NAME-B].

A line of a residual is an iteration and a number.  Prints both side by side and the largest relative difference; exit
status 1 if that is more than 1e-10, or if the iterations are not the same.
"""

import re
import sys
from pathlib import Path

TOLERANCE = 1e-10


def residuals(path: str) -> dict[int, float]:
    """The residuals in the output stored at *path*, by iteration."""
    lines = re.findall(r"^\s*(\d+)\s+(\S+)$", Path(path).read_text(), re.MULTILINE)
    return {int(iteration): float(residual) for iteration, residual in lines}


def relative_difference(a: float, b: float) -> float:
    """|a - b| in units of the larger; infinite where one is not a number."""
    difference = abs(a - b) / (max(abs(a), abs(b)) or 1.0)
    return difference if difference == difference else float("inf")


def main(path_a: str, path_b: str, name_a: str = "A", name_b: str = "B") -> int:
    """Print the comparison; the exit status."""
    a, b = residuals(path_a), residuals(path_b)
    if not a or a.keys() != b.keys():
        print(f"the iterations differ: {sorted(a)} and {sorted(b)}")
        return 1
    print(f"{'iteration':>9}  {name_a:<18}  {name_b:<18}")
    for iteration in a:
        print(f"{iteration:>9}  {a[iteration]:.12e}  {b[iteration]:.12e}")
    worst = max(relative_difference(a[i], b[i]) for i in a)
    print(f"largest relative difference {worst:.1e}: {'they agree' if worst <= TOLERANCE else 'THEY DISAGREE'}")
    return 0 if worst <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
