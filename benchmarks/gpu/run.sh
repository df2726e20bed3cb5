#!/bin/sh
# Everything that is to be said of a GPU machine, by one command: install nomp, the conformance test on each backend
# that has a device, whole programs and examples on the GPU, and the benchmarks, as tables in Markdown.
#
#     benchmarks/gpu/run.sh [--wheels FOLDER] [TABLES.md [OPTION ...]]
#
# The options are those of benchmarks/gpu.py.
# --wheels: install from FOLDER alone, for machines that reach no index (nomp's dependencies, pycuda, hatchling).
set -e
cd "$(dirname "$0")/../.."
wheels=
if [ "$1" = --wheels ]; then
  wheels=$2
  shift 2
fi
tables=${1:-build/gpu-bench/tables.md}
[ $# = 0 ] || shift
mkdir -p "$(dirname "$tables")"
python=${PYTHON:-python3}
if [ -n "$wheels" ]; then
  "$python" -m pip install -q --no-index --no-deps --no-cache-dir "$wheels"/*.whl
  "$python" -m pip install -q --no-index --no-deps --no-build-isolation -e .
else
  "$python" -m pip install -q -e '.[cuda,dev]'
fi
"$python" -m nomp.driver devices || true
"$python" -m pytest -q -n 0 tests/backends/test_conformance.py
NOMP_BACKEND=cuda "$python" -m pytest -q -n auto tests/programs/test_programs.py tests/examples
"$python" benchmarks/gpu.py --markdown "$tables" "$@"
