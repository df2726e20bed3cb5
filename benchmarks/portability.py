"""How portable the speed of the same sources is: on each device here, against programs by hand for that device.

    python benchmarks/portability.py [--only stream] [--cpu-scale 24] [--markdown FILE]

The programs are those of `benchmarks/gpu`.  By hand means CUDA on NVIDIA's GPUs, which nomp uses by CUDA and by OpenCL,
and OpenMP by gcc on the CPU, which it uses by gcc and by PoCL; sizes are smaller there.  Prints a table in Markdown:
for each part of a program the share of the hand-written one's speed that nomp reaches, at most 1, and their harmonic
mean over the devices.  What is missing is said, and left out.  Exit status 1 if results differ.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import harmonic_mean

import gpu

PROGRAMS = ("stream", "kernels", "attention", "spectral")
NVIDIA_OPENCL = "libnvidia-opencl.so.1"
VENDORS = Path("/etc/OpenCL/vendors")
LIST = """import json
from nomp.backend import BackendError, registered
for name, make in registered().items():
    try:
        platforms = make().devices()
    except BackendError:
        continue
    for platform, devices in enumerate(platforms):
        for device, info in enumerate(devices):
            print(json.dumps([name, info.type, info.platform, platform, device]))
"""
"""Prints what devices there are: a process of its own, since drivers are looked for once."""


@dataclass(frozen=True, slots=True)
class Target:
    """A device: its *title*, whose program it is compared with (*hand*), and the *environment* that chooses it."""

    title: str
    hand: str
    environment: Mapping[str, str]


def main(words: Sequence[str] | None = None) -> int:
    """Build, run, print; the exit status."""
    parser = argparse.ArgumentParser(description="Compare nomp with programs by hand on all devices that are here.")
    parser.add_argument("--only", action="append", choices=PROGRAMS)
    parser.add_argument("--cpu-scale", type=int, default=24, help="of the kernels on a CPU; a multiple of 8")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write what is printed to FILE, too")
    parser.add_argument("--build", type=Path, default=Path("build/portability"), help="where programs are built")
    options = parser.parse_args(words)
    options.build.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="nomp-vendors-") as vendors:
        targets, missing = _targets(Path(vendors))
        shares: dict[str, dict[str, float]] = {}
        wrong: list[str] = []
        for name in options.only or PROGRAMS:
            gpu.build_nomp(name, options.build)
            for target in targets:
                _measure(name, target, options, shares, wrong)
    lines = [*_table(targets, shares), *(f"{what}  " for what in missing)]
    print(*lines, *wrong, sep="\n")
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + "\n")
    return 1 if wrong else 0


def _targets(vendors: Path) -> tuple[list[Target], list[str]]:
    """The devices, and what is missing."""
    targets, missing = [], []
    cpus = {"CPU": _found({}, "cpu", "cpu"), "PoCL": _found({}, "opencl", "cpu")}
    opencl = _with_nvidia(vendors)
    gpus = {"CUDA": _found({}, "cuda", "gpu"), "NVIDIA OpenCL": _found(opencl, "opencl", "gpu", "NVIDIA")}
    for title, found in {**cpus, **gpus}.items():
        if found is None:
            missing.append(f"{title}: no such device")
        elif title in gpus and not shutil.which("nvcc"):
            missing.append(f"{title}: no nvcc to compile the programs by hand")
        else:
            targets.append(Target(title, "hand" if title in gpus else "omp", found))
    return targets, missing


def _with_nvidia(vendors: Path) -> dict[str, str]:
    """What makes OpenCL find NVIDIA's driver where it is installed without a file that says so."""
    try:
        ctypes.CDLL(NVIDIA_OPENCL)
    except OSError:
        return {}
    for file in VENDORS.glob("*.icd"):
        shutil.copy(file, vendors)
    (vendors / "nvidia.icd").write_text(f"{NVIDIA_OPENCL}\n")
    return {"OCL_ICD_VENDORS": str(vendors)}


def _found(environment: dict[str, str], backend: str, kind: str, maker: str = "") -> dict[str, str] | None:
    """What chooses the first such device under *environment*."""
    command = [sys.executable, "-c", LIST]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        name, type_, platform_name, platform, device = json.loads(line)
        if (name, type_) == (backend, kind) and maker in platform_name:
            return {**environment, "NOMP_BACKEND": name, "NOMP_PLATFORM": f"{platform}", "NOMP_DEVICE": f"{device}"}
    return None


def _measure(
    name: str, target: Target, options: argparse.Namespace, shares: dict[str, dict[str, float]], wrong: list[str]
) -> None:
    """Add what *target* reaches for each part of the program *name* to *shares*."""
    sizes = {"stream": "25", "kernels": f"{options.cpu_scale}", "attention": f"{8 * options.cpu_scale}"}
    if target.hand == "omp":
        if name not in sizes:  # spectral: by hand for GPUs only
            return
        case: tuple[str, ...] = (sizes[name],)
        gpu.build_openmp(name, options.build)
    else:
        case = gpu.CASES[name][len(gpu.CASES[name]) // 2]
        if not (options.build / f"{name}.hand").exists():
            gpu.build_hand(name, options.build)
    hand = gpu.read([str(options.build / f"{name}.{target.hand}"), *case], OMP_PROC_BIND="true")
    domain = {"NOMP_ANNOTATIONS_SCRIPT": gpu.SCRIPTS.get(name, {"": ""})[""]}
    ours = gpu.read([str(options.build / f"{name}.nomp"), *case], **target.environment, **domain)
    assert not isinstance(hand, str) and not isinstance(ours, str)
    for part, (time, checksum) in hand.items():
        if abs(ours[part][1] - checksum) > gpu.TOLERANCES.get(name, gpu.TOLERANCE) * abs(checksum):
            wrong.append(f"{target.title} {name} {part}: {ours[part][1]!r}, not {checksum!r}")
        if time and part != "enqueue":
            shares.setdefault(f"{name} {part}", {})[target.title] = min(1.0, time / ours[part][0])


def _table(targets: list[Target], shares: dict[str, dict[str, float]]) -> Iterator[str]:
    titles = [target.title for target in targets]
    yield f"| program | {' | '.join(titles)} | harmonic mean |"
    yield "|:--|" + "--:|" * (len(titles) + 1)
    means = []
    for part, reached in shares.items():
        means.append(harmonic_mean(list(reached.values())))
        cells = [f"{reached[title]:.2f}" if title in reached else "" for title in titles]
        yield f"| {part} | {' | '.join(cells)} | {means[-1]:.2f} |"
    yield ""
    yield f"Mean of all programs: {sum(means) / len(means):.2f}" if means else "No device."


if __name__ == "__main__":
    sys.exit(main())
