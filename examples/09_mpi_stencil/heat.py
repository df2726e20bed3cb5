"""The heat equation in three dimensions, with one slab of the grid on the device of each MPI rank.

    mpirun -n 2 python heat.py            compare with the serial answer, then time 1, 2, ... ranks
    mpirun -n 2 python heat.py check      compare only
"""

import ctypes
import os
import sys
import time

import numpy as np
from mpi4py import MPI

import nomp

K = 0.1


@nomp.jit
def advance(u, new, first, last):
    """One step in time of the planes from *first* up to *last*."""
    rows, columns = u.shape[1], u.shape[2]
    #pragma nomp for
    for i in range(first, last):
        for j in range(1, rows - 1):
            for k in range(1, columns - 1):
                new[i, j, k] = u[i, j, k] + K * (
                    u[i - 1, j, k] + u[i + 1, j, k] + u[i, j - 1, k] + u[i, j + 1, k] + u[i, j, k - 1] + u[i, j, k + 1]
                    - 6 * u[i, j, k]
                )


def gpu_aware():
    """Whether MPI takes memory of the device; GPU_AWARE=0 or 1 decides if it is set."""
    kinds = {2: "MPIX_Query_cuda_support", 10: "MPIX_Query_rocm_support"}  # DLPack's numbers
    name = kinds.get(nomp.empty(1).__dlpack_device__()[0])
    query = getattr(ctypes.CDLL(MPI.__file__), name, None) if name else None
    return name is not None and bool(int(os.environ.get("GPU_AWARE") or (query() if query else 0)))


def step(comm, u, new, aware):
    """One step of all planes but the first and the last, which are, or will be, the neighbours'."""
    last = len(u) - 2
    sides = [(rank, ours, theirs) for rank, ours, theirs in ((comm.rank - 1, 1, 0), (comm.rank + 1, last, last + 1))
             if 0 <= rank < comm.size]
    advance(u, new, 1, 2)  # what the neighbours wait for
    advance(u, new, max(2, last), last + 1)
    if aware:
        nomp.sync()
    advance(u, new, 2, last)  # goes on while planes are copied, and messages travel
    planes = nomp.mapped(new) if aware else new
    if not aware:
        nomp.update(from_=[new[ours] for _, ours, _ in sides])
    requests = [comm.Irecv(planes[theirs], rank) for rank, _, theirs in sides]
    requests += [comm.Isend(planes[ours], rank) for rank, ours, _ in sides]
    MPI.Request.Waitall(requests)
    if not aware:
        nomp.update(to=[new[theirs] for _, _, theirs in sides])


def start(shape, first, last):
    """The planes from *first* to *last*, and their neighbours, of a grid that is hot in the middle; 0 at the edges."""
    planes, rows, columns = (np.abs(np.linspace(-1, 1, points + 2)) for points in shape)
    u = np.cos(np.pi / 2 * planes[first : last + 2, None, None])
    u = u * np.cos(np.pi / 2 * rows[:, None]) * np.cos(np.pi / 2 * columns)
    u[:, 0], u[:, -1], u[:, :, 0], u[:, :, -1] = 0, 0, 0, 0
    if first == 0:
        u[0] = 0
    if last == shape[0]:
        u[-1] = 0
    return u


def slab(comm, shape):
    """Which planes of a grid are this rank's: the first one, and the one after the last."""
    return shape[0] * comm.rank // comm.size, shape[0] * (comm.rank + 1) // comm.size


def solve(comm, shape, steps):
    """This rank's planes after *steps*, with their neighbours, and how many seconds the slowest rank took."""
    u = start(shape, *slab(comm, shape))
    new = u.copy()
    nomp.update(to=[u, new])
    aware = gpu_aware()
    for _ in range(2):  # kernels are compiled now; the second one swaps the arrays back
        step(comm, u, new, aware)
        u, new = new, u
    nomp.sync()
    comm.Barrier()
    begin = time.perf_counter()
    for _ in range(steps - 2):
        step(comm, u, new, aware)
        u, new = new, u
    nomp.sync()
    seconds = comm.allreduce(time.perf_counter() - begin, MPI.MAX)
    nomp.update(from_=u, free=[u, new])
    return u, seconds


def serial(shape, steps):
    """The whole grid after *steps*, by NumPy."""
    u = start(shape, 0, shape[0])
    for _ in range(steps):
        inside = u[1:-1, 1:-1, 1:-1]
        around = u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1]
        around = around + u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:]
        new = u.copy()
        new[1:-1, 1:-1, 1:-1] = inside + K * (around - 6 * inside)
        u = new
    return u


def check(comm, shape=(23, 18, 20), steps=30):
    """Whether all ranks have what one has without nomp; sums may differ in the last bits."""
    u, _ = solve(comm, shape, steps)
    first, last = slab(comm, shape)
    difference = comm.allreduce(np.abs(u - serial(shape, steps)[first : last + 2]).max(), MPI.MAX)
    return difference < 1e-12


def scaling(world, points, steps):
    """Print how long 1, 2, 4 ... ranks take for one grid together (strong), and for one grid each (weak)."""
    if world.rank == 0:
        print(f"{points}^3 points, {steps} steps, in seconds; efficiency is that per rank, against one rank")
        print("ranks    strong  efficiency      weak  efficiency", flush=True)
    ranks = [2**n for n in range(world.size.bit_length()) if 2**n < world.size] + [world.size]
    alone = 0.0
    for count in ranks:
        comm = world.Split(0 if world.rank < count else MPI.UNDEFINED)
        if comm != MPI.COMM_NULL:
            _, strong = solve(comm, (points, points, points), steps)
            _, weak = solve(comm, (points * count, points, points), steps)
            alone = alone or strong
            if world.rank == 0:
                efficiency = alone / strong / count
                print(f"{count:5} {strong:9.3f} {efficiency:11.2f} {weak:9.3f} {alone / weak:11.2f}", flush=True)
            comm.Free()
        world.Barrier()


def main():
    world = MPI.COMM_WORLD
    nomp.init(device="local")
    same = check(world)
    if world.rank == 0:
        way = ", messages from the device's memory" if gpu_aware() else ""
        print(f"{world.size} ranks: {'the same as' if same else 'NOT'} the serial answer{way}", flush=True)
    if same and sys.argv[1:] != ["check"]:
        points, steps = (int(text) for text in sys.argv[1:] or ("192", "100"))
        scaling(world, points, steps)
    nomp.finalize()
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
