"""The C API: headers, ``libnomp.so`` (built by `build`) and what it calls in Python (`api`)."""

from pathlib import Path

INCLUDE = Path(__file__).with_name("include")
LIBRARY = Path(__file__).with_name("lib")
