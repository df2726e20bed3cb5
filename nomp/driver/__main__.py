"""``python -m nomp.driver``: the program ``nomp`` for an interpreter whose scripts are not on PATH."""

from __future__ import annotations

import sys

from nomp.driver.cli import main

sys.exit(main())
