"""The tests here run regions with the interpreter that the lowering's tests compare with."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "lower"))
