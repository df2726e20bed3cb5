"""What is known of a process that may be one of MPI's ranks, by its environment."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from nomp.launchers import is_alone, local_rank


@pytest.mark.parametrize(
    ("environ", "rank"),
    [({"SLURM_LOCALID": "3"}, 3), ({"MPI_LOCALRANKID": "2"}, 2), ({}, 0), ({"SLURM_LOCALID": "?"}, 0),
     ({"OMPI_COMM_WORLD_LOCAL_RANK": "1", "SLURM_LOCALID": "0"}, 1)],
)  # fmt: skip
def test_local_rank(environ: Mapping[str, str], rank: int) -> None:
    """That of the program that started it: mpirun in a job of Slurm counts its own ranks."""
    assert local_rank(environ) == rank


@pytest.mark.parametrize(
    ("environ", "alone"),
    [
        ({}, True),
        ({"OMPI_COMM_WORLD_LOCAL_RANK": "0", "OMPI_COMM_WORLD_LOCAL_SIZE": "1"}, True),
        ({"OMPI_COMM_WORLD_LOCAL_RANK": "0", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}, False),
        ({"OMPI_COMM_WORLD_LOCAL_RANK": "1"}, False),
        ({"MPI_LOCALRANKID": "0", "MPI_LOCALNRANKS": "4"}, False),
        ({"MV2_COMM_WORLD_LOCAL_RANK": "0", "MV2_COMM_WORLD_LOCAL_SIZE": "3"}, False),
        ({"PALS_LOCAL_RANKID": "0", "PALS_LOCAL_SIZE": "12"}, False),
        ({"JSM_NAMESPACE_LOCAL_RANK": "0", "JSM_NAMESPACE_LOCAL_SIZE": "6"}, False),
        ({"FLUX_TASK_LOCAL_ID": "0", "FLUX_JOB_SIZE": "2"}, False),
        ({"SLURM_LOCALID": "0"}, True),  # a script that sbatch runs
        ({"SLURM_LOCALID": "0", "SLURM_STEP_TASKS_PER_NODE": "1(x4)"}, True),
        ({"SLURM_LOCALID": "0", "SLURM_STEP_TASKS_PER_NODE": "2(x3),1"}, False),
        ({"SLURM_LOCALID": "0", "SLURM_STEP_TASKS_PER_NODE": "1, 8"}, False),
        # mpirun in a job of Slurm
        ({"OMPI_COMM_WORLD_LOCAL_RANK": "0", "OMPI_COMM_WORLD_LOCAL_SIZE": "1",
          "SLURM_LOCALID": "0", "SLURM_STEP_TASKS_PER_NODE": "8"}, True),
        ({"OMPI_COMM_WORLD_LOCAL_SIZE": "8", "SLURM_LOCALID": "?"}, True),
    ],
)  # fmt: skip
def test_who_is_alone_on_the_machine(environ: Mapping[str, str], alone: bool) -> None:
    assert is_alone(environ) == alone
