"""What the conformance test needs: a device, and the few words in which the device languages differ."""

from __future__ import annotations

from dataclasses import dataclass, replace

from nomp.backend import Backend, BackendError, Device


def first_device(backend: Backend) -> Device:
    """The first device that opens; `BackendError` with every reason if none does."""
    reasons = []
    for platform, devices in enumerate(backend.devices()):
        for device, info in enumerate(devices):
            try:
                return backend.open(platform, device)
            except BackendError as reason:
                reasons.append(f"{info.name}: {reason}")
    raise BackendError("; ".join(reasons) or "no devices")


@dataclass(frozen=True)
class Dialect:
    """*kernel* opens an entry point, *buffer* a pointer to device memory; *groups* and *items* are by axis.

    *shared* declares an array that the items of a group share, *wait* makes them wait for each other.  *asked_for*
    declares one whose size the launch says, where that is needed for large ones.
    """

    kernel: str
    buffer: str
    groups: tuple[str, str, str]
    items: tuple[str, str, str]
    sizes: tuple[str, str, str]
    types: dict[str, str]
    shared: str
    wait: str
    asked_for: str = ""

    def index(self, axis: int) -> str:
        """The global number of an item along *axis*."""
        return f"({self.groups[axis]} * {self.sizes[axis]} + {self.items[axis]})"

    def entry(self, name: str, arguments: str, body: str) -> str:
        """An entry point; ``global T *`` in *arguments* is a pointer to device memory, numbers are 64-bit."""
        return f"{self.kernel} {name}({arguments.replace('global ', self.buffer)}) {{ {body} }}\n"


_C = {"int8": "char", "int16": "short", "int32": "int", "uint8": "unsigned char", "uint16": "unsigned short",
      "uint32": "unsigned int", "float32": "float", "float64": "double"}  # fmt: skip

OPENCL = Dialect(
    "__kernel void", "__global ",
    ("(long)get_group_id(0)", "(long)get_group_id(1)", "(long)get_group_id(2)"),
    ("(long)get_local_id(0)", "(long)get_local_id(1)", "(long)get_local_id(2)"),
    ("(long)get_local_size(0)", "(long)get_local_size(1)", "(long)get_local_size(2)"),
    _C | {"int64": "long", "uint64": "unsigned long"},
    "__local", "barrier(CLK_LOCAL_MEM_FENCE)",
)  # fmt: skip

CUDA = Dialect(
    'extern "C" __global__ void', "",
    ("(long long)blockIdx.x", "(long long)blockIdx.y", "(long long)blockIdx.z"),
    ("(long long)threadIdx.x", "(long long)threadIdx.y", "(long long)threadIdx.z"),
    ("(long long)blockDim.x", "(long long)blockDim.y", "(long long)blockDim.z"),
    _C | {"int8": "signed char", "int64": "long long", "uint64": "unsigned long long"},
    "__shared__", "__syncthreads()", "extern __shared__",
)  # fmt: skip

DIALECTS = {"opencl": OPENCL, "c": OPENCL, "cuda": CUDA, "hip": replace(CUDA, asked_for="")}
