"""attention.c by PyTorch: chosen blocks are gathered, then scaled_dot_product_attention; prints what attention.c does.

    python attention_torch.py GROUPS

Ends with status 3, and says why, if there is no PyTorch that can use a GPU.
"""

from __future__ import annotations

import sys
import time
from statistics import median

import numpy as np

QUERIES, KEYS, FEATURES, MOST, RUNS = 64, 32, 64, 16, 21


def numbers(count: int, seed: int) -> np.ndarray:
    """The numbers that attention.h makes."""
    x = (np.arange(count, dtype=np.uint32) + np.uint32(seed)) * np.uint32(2654435761)
    return ((x ^ x >> np.uint32(15)) >> np.uint32(8)).astype(np.float32) / np.float32(1 << 23) - np.float32(1)


def main(groups: int) -> int:
    """Measure; the exit status."""
    try:
        import torch
    except ImportError as reason:
        print(reason, file=sys.stderr)
        return 3
    if not torch.cuda.is_available():
        print("PyTorch finds no GPU", file=sys.stderr)
        return 3

    def on_device(rows: int, each: int, seed: int) -> torch.Tensor:
        return torch.from_numpy(numbers(rows * each * FEATURES, seed).reshape(rows, each, FEATURES)).cuda()

    queries = on_device(groups, QUERIES, 1)
    keys, values = on_device(2 * groups, KEYS, 2), on_device(2 * groups, KEYS, 3)
    of_group = (37 * np.arange(groups)[:, None] + 101 * np.arange(MOST)) % (2 * groups)
    chosen = torch.from_numpy(of_group).cuda()

    def attend() -> torch.Tensor:
        k, v = (blocks[chosen].reshape(groups, MOST * KEYS, FEATURES) for blocks in (keys, values))
        made = torch.nn.functional.scaled_dot_product_attention(queries[:, None], k[:, None], v[:, None])
        torch.cuda.synchronize()
        return made

    result, times = attend(), []
    for _ in range(RUNS):
        start = time.perf_counter()
        attend()
        times.append(time.perf_counter() - start)
    print(f"attention {median(times):.9f} {min(times):.9f} 0")
    print(f"results 0 0 {float((result.double() ** 2).sum()):.17g}")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
