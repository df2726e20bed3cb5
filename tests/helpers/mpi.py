"""Programs that tests run on several MPI ranks."""

from __future__ import annotations

import shutil

from commands import cannot_run

ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",  # as which CI runs
    "OMPI_MCA_rmaps_base_oversubscribe": "1",  # more ranks than cores; newer releases of OpenMPI call it
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}  # fmt: skip
"""What lets OpenMPI start ranks wherever tests run."""


def require() -> None:
    """See `cannot_run`, where there is no MPI."""
    missing = [program for program in ("mpirun", "mpicc") if shutil.which(program) is None]
    if missing:
        cannot_run(f"there is no {missing[0]}: apt-get install openmpi-bin libopenmpi-dev")
