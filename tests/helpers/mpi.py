"""Programs that tests run on several MPI ranks."""

from __future__ import annotations

import os
import shutil

import pytest

ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",  # as which CI runs
    "OMPI_MCA_rmaps_base_oversubscribe": "1",  # more ranks than cores; newer releases of OpenMPI call it
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}  # fmt: skip
"""What lets OpenMPI start ranks wherever tests run."""


def require() -> None:
    """Skip the test that calls this where there is no MPI."""
    missing = [program for program in ("mpirun", "mpicc") if shutil.which(program) is None]
    if missing:
        assert "MUST_RUN_ALL" not in os.environ, "apt-get install openmpi-bin libopenmpi-dev"
        pytest.skip(f"there is no {missing[0]}")
