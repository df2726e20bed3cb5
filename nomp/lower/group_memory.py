"""Memory of a group that kernels ask for when they are launched, where declarations cannot have as much as they use.

In: a scheduled kernel.  Out: the same, whose group's arrays have places in one array without a size, if they need it;
and how many bytes of it an entry point uses.  Called by `codegen`; `cuda_target` spells the array without a size.
"""

from __future__ import annotations

import loopy as lp
from loopy.kernel.data import AddressSpace
from loopy.schedule.tools import temporaries_read_in_subkernel, temporaries_written_in_subkernel

_ALIGNMENT = 16
"""That of the largest type, a vector of two doubles."""


def placed(kernel: lp.TranslationUnit, most: int) -> lp.TranslationUnit:
    """*kernel*, whose declarations have at most *most* bytes of a group's memory.

    After loopy has looked for what needs barriers: it takes arrays with places in one array for the same.
    """
    entry = kernel.default_entrypoint
    shared = [t for t in entry.temporary_variables.values() if t.address_space == AddressSpace.LOCAL]
    if sum(t.nbytes for t in shared) <= most:
        return kernel
    whole = entry.get_var_name_generator()("group_memory")
    temporaries, size = dict(entry.temporary_variables), 0
    for temporary in shared:
        temporaries[temporary.name] = temporary.copy(
            base_storage=whole, offset=size, _base_storage_access_may_be_aliasing=False
        )
        size += -(-temporary.nbytes // _ALIGNMENT) * _ALIGNMENT
    temporaries[whole] = lp.TemporaryVariable(whole, "int8", (size,), address_space=AddressSpace.LOCAL)
    return kernel.with_kernel(entry.copy(temporary_variables=temporaries))


def asked_for(entry: lp.LoopKernel, name: str) -> int:
    """How many bytes the launch of *entry*'s part *name* asks for."""
    used = temporaries_read_in_subkernel(entry, name) | temporaries_written_in_subkernel(entry, name)
    wholes = {entry.temporary_variables[variable].base_storage for variable in used} - {None}
    return sum(entry.temporary_variables[whole].nbytes for whole in wholes)
