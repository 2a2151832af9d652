# Each target works as the first command on a fresh clone.
.DEFAULT_GOAL := help
.PHONY: help demo test check lint docs bench attacks slow wheel clean

PYTHON ?= python3
BIN := .venv/bin
# pip runs the maturin it finds on the path.
export PATH := $(CURDIR)/$(BIN):$(PATH)
# Tests start hundreds of interpreters: without stored bytecode each compiles all modules again.
unexport PYTHONDONTWRITEBYTECODE
# What the extension is built from: rebuilt only when one of these changes.
SOURCES := $(shell find rust python -name '*.rs' -o -name '*.toml' 2>/dev/null) Cargo.toml Cargo.lock pyproject.toml
FUZZ := cargo test --release --package fedrank-core --test secagg --test envelope --
INSTALL := $(BIN)/python -m pip install --quiet --no-build-isolation --editable

# One worker per core and one more, since some tests mostly wait; the tests of a file stay together,
# so that what they share is made once, and files begin in the order of tests/conftest.py.
WORKERS := $(shell $(PYTHON) -c 'import os; print(1 + (os.cpu_count() or 1))' 2>/dev/null)
PYTEST := $(BIN)/pytest --numprocesses=$(WORKERS) --dist=loadfile --no-loadscope-reorder

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

demo: .venv/built ## compute a federated consensus of 978 genes; prints tables, draws out/demo.png
	@mkdir -p out
	$(BIN)/fedrank demo --picture out/demo.png

test: .venv/built ## run Rust tests, Python tests and the examples in the documentation
	cargo test --quiet --package fedrank-core
	$(PYTEST) $(MARKED) -m "not slow" tests python README.md docs

# The same tests, with those that start processes; none of these may be skipped.
check: MARKED := --check
check: lint test ## run all that CI runs: lint, the site, all tests including federations of processes

lint: .venv/built docs ## check formatting, clippy, ruff, mypy, stubtest and the site
	cargo fmt --all --check
	cargo clippy --quiet --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --no-deps --package fedrank-core
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy tests/helpers/lazy_modules.py
	MYPYPATH=python $(BIN)/python -m mypy.stubtest fedrank._core

docs: .venv/built ## build the site in out/site; a warning is an error
	$(BIN)/python -m sphinx --quiet --fresh-env --fail-on-warning --doctree-dir out/doctrees docs out/site
	$(BIN)/python docs/check.py out/site

bench: .venv/bench ## measure ratios against peers; writes benches/README.md
	cargo bench --quiet --package fedrank-benches
	$(BIN)/python -m benches.peers

attacks: .venv/built ## play attacks on the protocol and the agents; prints what comes of each
	cd tests && ../$(BIN)/python -m attacks

slow: .venv/built ## run the tests that take too long for CI: fuzzing, large n, real data
	FEDRANK_FUZZ_CASES=1000000 $(FUZZ) any_bytes changed_requests changed_begins changed_confirmations \
		changed_states changed_server_states envelope identity_lines
	FEDRANK_FUZZ_CASES=20000 $(FUZZ) a_tampering_client random_schedules
	$(BIN)/pytest --nodes --stores --browser -m slow tests

wheel: .venv/built ## build a wheel for this platform in dist/
	$(BIN)/maturin build --release --out dist

clean: ## remove everything that the other targets make
	rm -rf .venv target dist out

.venv/built: $(SOURCES) | .venv/tools
	$(INSTALL) '.[dev]'
	@touch $@

.venv/bench: .venv/built
	$(INSTALL) '.[bench]'
	@touch $@

.venv/tools:
	@command -v cargo >/dev/null || { echo "cargo is missing: install Rust from https://rustup.rs"; exit 1; }
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is missing: install Python 3.11 or later"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is too old: fedrank needs 3.11 or later (PYTHON=... picks another)"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "python3-venv is missing: apt install python3-venv, or your system's like"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip 'maturin>=1.9.4,<2'
	@touch $@
