"""The processes in which the fuzzer's tests run programs: started once, they import nomp, and fork for each program."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest
import run


@pytest.fixture(scope="session")
def pool() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn"), initializer=run.preload) as made:
        yield made
