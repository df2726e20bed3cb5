"""What the programs that start MPI's ranks (mpirun, srun, jsrun ...) leave in the environment of each.

In: an environment.  Out: how many ranks there are, which of its machine's a process is, and whether it has the machine
to itself.  Used by `runtime.devices`, `driver.profile` and backends.
"""

from __future__ import annotations

from collections.abc import Mapping

_LOCAL = {
    "OMPI_COMM_WORLD_LOCAL_RANK": "OMPI_COMM_WORLD_LOCAL_SIZE",
    "MPI_LOCALRANKID": "MPI_LOCALNRANKS",
    "MV2_COMM_WORLD_LOCAL_RANK": "MV2_COMM_WORLD_LOCAL_SIZE",
    "PALS_LOCAL_RANKID": "PALS_LOCAL_SIZE",
    "JSM_NAMESPACE_LOCAL_RANK": "JSM_NAMESPACE_LOCAL_SIZE",
    "FLUX_TASK_LOCAL_ID": "FLUX_JOB_SIZE",
    "SLURM_LOCALID": "SLURM_STEP_TASKS_PER_NODE",
}
"""The variables that have the number of a rank among those of its machine, and how many these are: Flux has that of all
machines, and Slurm that of each machine (``4(x2),3``), which scripts that started no ranks do not have."""


_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS")
"""The variables that have the number of all ranks."""


def ranks(environ: Mapping[str, str]) -> int:
    """How many MPI ranks a process is one of, on all machines; 1 for one that nothing which is known has started."""
    return next((int(environ[name]) for name in _SIZES if environ.get(name, "").isdecimal()), 1)


def local_rank(environ: Mapping[str, str]) -> int:
    """Which of its machine's MPI ranks a process is; 0 for one that nothing which is known has started."""
    return next((int(environ[name]) for name in _LOCAL if environ.get(name, "").isdecimal()), 0)


def local_ranks(environ: Mapping[str, str]) -> int:
    """How many MPI ranks there are on a process's machine, as far as that is known: of Slurm's numbers, the largest."""
    name = next((name for name in _LOCAL if environ.get(name, "").isdecimal()), None)
    if name is None:
        return 1
    sizes = [part.partition("(")[0].strip() for part in environ.get(_LOCAL[name], "").split(",")]
    return max(int(environ[name]) + 1, *(int(size) for size in sizes if size.isdecimal()), 1)


def is_alone(environ: Mapping[str, str]) -> bool:
    """Whether no other rank is known to be on a process's machine."""
    return local_ranks(environ) == 1
