"""The devices that the conformance test runs on: the first usable one of each registered backend."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from conformance import first_device

from nomp.backend import Backend, BackendError, Device, registered

BACKENDS = sorted(registered())


@pytest.fixture(scope="session", params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    return registered()[request.param]()


@pytest.fixture(scope="session")
def device(backend: Backend) -> Iterator[Device]:
    try:
        opened = first_device(backend)
    except BackendError as reason:
        if backend.name == "opencl":
            raise  # PoCL makes a device of any CPU: without one these tests would say nothing
        pytest.skip(f"{backend.name}: {reason}")  # other backends need hardware that few machines have
    yield opened
    opened.close()
