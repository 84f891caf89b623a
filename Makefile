# make demo   a batch of three proofs, end to end        make test   lint, types and tests
# make lock   pin the dependencies again                 make clean  remove what these made
# make test-gpu   kernels, prover and engine on a GPU (pip install cuzk[gpu])
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: help demo install develop test lint types pytest test-gpu examples lock clean

python := .venv/bin/python
# The environment holds absolute paths, so a moved or renamed folder builds its own again.
here := $(shell pwd -P | cksum | cut -d ' ' -f 1)
installed := .venv/installed-$(here)
developed := .venv/developed-$(here)
# Each installation has a folder of its own, to which .venv leads once it is whole: programs that run are not
# touched. That before the last is removed by the next one.
new := .venvs/$(shell date +%Y%m%d-%H%M%S)-$(shell echo $$$$)
# pip is silent for minutes, or prints hundreds of lines; a word every ten seconds is in between.
pip_options := -m pip install --quiet --disable-pip-version-check
words := trap 'kill $$!' EXIT; \
  (while sleep 10 >/dev/null 2>&1 && kill -0 $$$$ 2>/dev/null; do echo "still installing, $$SECONDS s so far"; done) &

help:
	@sed -n 's/^# //p' Makefile | head -n 3

demo: $(installed)
	@.venv/bin/cuzk bench batch --type merkle --count 3 --concurrency 3 --budget 512MiB

install: $(installed)
develop: $(developed)

$(installed): requirements.txt pyproject.toml
	@candidates="$${PYTHON:-python3 python3.13 python3.12 python3.11}"; \
	for candidate in $$candidates; do \
	  if "$$candidate" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    echo "building .venv with $$("$$candidate" --version) (once, a minute or two)"; \
	    exec "$$candidate" -m venv $(new); \
	  fi; \
	done; \
	echo "make: no Python 3.11 or newer with venv among: $$candidates; install one or set PYTHON=/path/to/python3" >&2; exit 2
	@$(words) $(new)/bin/python $(pip_options) --require-hashes --requirement requirements.txt
	@$(words) $(new)/bin/python $(pip_options) --no-deps --no-build-isolation --editable .
	@former=$$(readlink .venv || true); \
	if [ -d .venv ] && [ ! -L .venv ]; then former=$(new)-former; mv .venv "$$former"; fi; \
	find .venvs -mindepth 1 -maxdepth 1 ! -path $(new) ! -path "$${former:-.}" -exec rm -rf {} +; \
	ln -s $(new) .venvs/next; \
	$(new)/bin/python -c 'import os; os.replace(".venvs/next", ".venv")'
	@touch $@

$(developed): $(installed) requirements-dev.txt
	@$(words) $(python) $(pip_options) --require-hashes --requirement requirements-dev.txt
	@touch $@

node_modules/.package-lock.json: package-lock.json
	@command -v npm >/dev/null || { echo "make: the tests check proofs with snarkjs and need Node.js with npm" >&2; exit 2; }
	@npm ci --no-audit --no-fund --loglevel=error
	@touch $@

test: lint types pytest

lint: $(developed)
	@$(python) -m ruff check .
	@$(python) -m ruff format --check .

types: $(developed)
	@$(python) -m mypy

pytest: $(developed) node_modules/.package-lock.json
	@.venv/bin/cuzk warmup
	@$(python) -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

# Where .venv has the extra `gpu` and the machine a device; `make test` runs the same tests in a simulator.
test-gpu: $(developed)
	@$(python) -m pytest tests/cuda

examples: node_modules/.package-lock.json
	@examples/build.sh

lock:
	@command -v uv >/dev/null || { echo "make: pinning needs uv (pip install uv)" >&2; exit 2; }
	uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-header --quiet --extra build --output-file requirements.txt
	uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-header --quiet --extra build --extra dev --constraint requirements.txt --output-file requirements-dev.txt

clean:
	rm -rf .venv .venvs node_modules build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
