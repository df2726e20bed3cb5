"""Products of matrices by matrix units: for which loops there are any, and the CUDA C++ of them.

`gpu_on_double` runs them, with a unit that is emulated.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from both import Loop
from quick import first_of
from test_transforms import PRODUCT, RANDOM

from nomp.config import Settings

UNITS, OF_ITEMS = "nomp_add_products(sum[", "sum[31] = sum[31] + a_here"
TURNED = PRODUCT.replace("a[n][p], double b[p][m]", "a[p][n], double b[m][p]").replace(
    "[i][k] * b[k][j]", "[k][i] * b[j][k]"
)


def product(folder: Path, text: str, n: int, m: int, p: int, *choices: tuple[str, str], jit: str = "") -> Loop:
    """The loop *text*, `PRODUCT` or like it, with random matrices."""
    shapes = {"a": (n, p), "b": (p, m), "c": (n, m)} | ({"a": (p, n), "b": (m, p)} if text == TURNED else {})
    values = {"n": n, "m": m, "p": p} | {name: RANDOM.random(shape) for name, shape in shapes.items()}
    text %= f'annotate("product", "j i k") {jit}'
    return Loop(folder, text, values, Settings(annotations_script="dense"), choices)


def code(folder: Path, text: str, arch: str = "sm_90", p: int = 70, jit: str = "") -> str:
    return product(folder, text, 100, 80, p, jit=jit).cuda(arch)


@pytest.mark.slow
def test_products(tmp_path: Path) -> None:
    """Units make sums of 32 terms, for the 16 rows of each warp and 64 columns; rows of the copies are padded."""
    made = code(tmp_path, PRODUCT)
    for piece in ("double a_here[64 * 36];", "double b_here[32 * 68];", "double row[2], column[8];", UNITS):
        assert piece in made


@pytest.mark.slow
def test_all_terms_are_there(tmp_path: Path) -> None:
    """A sum of which it is known that it has whole steps has no rest that items make."""
    assert OF_ITEMS not in code(tmp_path, PRODUCT, p=64, jit="jit(p)")
    assert OF_ITEMS in code(tmp_path, PRODUCT, p=70, jit="jit(p)")


@pytest.mark.slow
def test_the_units_of_another_gpu(tmp_path: Path) -> None:
    assert UNITS in code(tmp_path, PRODUCT, "sm_80")


@pytest.mark.slow
@pytest.mark.parametrize("arch", first_of(["sm_89", "sm_75"]))
def test_gpus_without_units(arch: str, tmp_path: Path) -> None:
    assert UNITS not in code(tmp_path, PRODUCT, arch)


OTHERS = {
    "transposed": ("a[i][k] * b[k][j]", "b[k][j] * a[i][k]", True),
    "before": ("sum += a[i][k] * b[k][j]", "sum = a[i][k] * b[k][j] + sum", True),
    "difference": ("sum += a[i][k] * b[k][j]", "sum -= a[i][k] * b[k][j]", False),
    "three factors": ("a[i][k] * b[k][j]", "a[i][k] * b[k][j] * 2", False),
    "conditions": ("sum += a", "if (k != 3) sum += a", False),
    "square": ("a[i][k] * b[k][j]", "a[i][k] * a[i][k]", False),
    "singles": ("double", "float", False),
}
"""What stands where in the product, and whether units make that."""


@pytest.mark.slow
@pytest.mark.parametrize("name", first_of(OTHERS))
def test_other_sums(name: str, tmp_path: Path) -> None:
    before, after, fits = OTHERS[name]
    made = product(tmp_path, PRODUCT.replace(before, after), 64, 64, 64, jit="jit(n, m, p)").cuda()
    assert (UNITS in made) == fits
