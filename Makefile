# make demo   build and install nomp here, compile an example with it, run it, compare it with gcc's own build
# make test   all tests          make quick   all but the slow ones
# make fuzz N=500 SEED=0   random programs against gcc; failures end up in build/fuzz
# make bench-runtime   time launches, and the start of programs
# make fuzz-python N=500 SEED=0   random Python loops against the interpreter
# make bench-cpu   time kernels against gcc and OpenMP; BENCH_ARGS='--kernel gemm --size medium'
# make bench  the same, kept for this commit in benchmarks/history.jsonl and drawn in the docs
# make docs   the documentation, as HTML in build/docs
# make bench-python   time Python loops against Numba and NumPy
# make check  ruff, mypy, import-linter          make clean   remove what was built here
PYTHON ?= python3
VENV ?= .venv
HOSTCC ?= gcc
PYTEST_ARGS ?= -n 2

BIN = $(VENV)/bin
DEMO = $(wildcard examples/02_spectral_cg/*.c)
# What an installation is made from; the Python files are used in place.
BUILD = pyproject.toml $(wildcard backends/nomp_backends/cpu_text/*) \
  $(shell find nomp/capi -name lib -prune -o -name __pycache__ -prune -o -type f -print)

.PHONY: demo test quick check docs fuzz bench-cpu bench-runtime bench fuzz-python bench-python clean needs needs-tests
.NOTPARALLEL:

demo: $(VENV)/.installed
	@mkdir -p build/demo
	$(BIN)/nomp cc -O3 $(DEMO) -o build/demo/spectral_cg -lm
	$(HOSTCC) -O3 -Wno-unknown-pragmas $(DEMO) -o build/demo/plain -lm
	build/demo/spectral_cg > build/demo/nomp.txt
	build/demo/plain > build/demo/plain.txt
	@$(BIN)/python examples/compare.py build/demo/nomp.txt build/demo/plain.txt "nomp cc" "$(HOSTCC)"

test: $(VENV)/.developer
	$(BIN)/pytest $(PYTEST_ARGS)

quick: $(VENV)/.developer
	$(BIN)/pytest $(PYTEST_ARGS) -m "not slow"

check: $(VENV)/.developer
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.developer
	$(BIN)/sphinx-build -q -n -W --keep-going -b html docs build/docs

fuzz: $(VENV)/.developer
	$(BIN)/python tests/fuzz/run.py -n $(or $(N),100) -s $(or $(SEED),0) -o build/fuzz

fuzz-python: $(VENV)/.developer
	$(BIN)/python tests/fuzz/run_python.py -n $(or $(N),100) -s $(or $(SEED),0) -o build/fuzz

bench-python: $(VENV)/.installed
	$(BIN)/pip install -q --disable-pip-version-check -e '.[bench]'
	$(BIN)/python benchmarks/python.py $(BENCH_ARGS)

bench-cpu: $(VENV)/.installed
	$(BIN)/python benchmarks/cpu.py $(BENCH_ARGS)

bench: $(VENV)/.installed
	@mkdir -p build/bench
	$(BIN)/python benchmarks/cpu.py --json build/bench/cpu.json $(BENCH_ARGS)
	$(BIN)/python benchmarks/history.py build/bench/cpu.json
	$(BIN)/python docs/generate.py

bench-runtime: $(VENV)/.installed
	$(BIN)/python benchmarks/runtime.py $(BENCH_ARGS)

$(VENV)/.installed: $(BUILD) | needs
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --disable-pip-version-check --use-pep517 -e .
	@touch $@

$(VENV)/.developer: $(BUILD) | needs-tests
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --disable-pip-version-check --use-pep517 -e '.[dev]'
	@touch $@ $(VENV)/.installed

needs needs-tests:
	@PYTHON="$(PYTHON)" HOSTCC="$(HOSTCC)" .ci/missing $(if $(filter needs-tests,$@),--tests) || { echo "install these first: apt-get install PACKAGE ..."; exit 1; }

clean:
	rm -rf $(VENV) build nomp/capi/lib backends/nomp_backends/lib .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
