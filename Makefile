# `make` or `make help` says what there is. Everything happens in $(VENV), which is made when it is missing.

PYTHON ?= python3
VENV   ?= .venv
JOBS   ?= auto
PY     := $(VENV)/bin/python
READY  := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help demo test lint format types contracts check test-all bench gallery clean

help: ## Show this help
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-11s %s\n", $$1, $$2 }'

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
		|| { echo "Python 3.10 or newer is needed: make PYTHON=python3.11 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --upgrade 'pip>=25.1'
	$(PY) -m pip install --quiet --group dev --editable .
	@touch $@

demo: $(READY) ## Run a shipped model and print what happened onto its source
	@$(VENV)/bin/torchlens-lsp trace examples/mixture_of_experts.py --example default

test: $(READY) ## Run every test
	$(PY) -m pytest -n $(JOBS)

lint: $(READY) ## Check style (ruff)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

format: $(READY) ## Rewrite the files in the project's style
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

types: $(READY) ## Check types (mypy --strict)
	$(VENV)/bin/mypy

contracts: $(READY) ## Check which part imports what (import-linter)
	$(VENV)/bin/lint-imports

check: lint types contracts test ## All that a change has to pass

test-all: ## Run the torch-free tests on every CPython from 3.10 to 3.13, and all tests on the oldest torch
	$(PYTHON) tools/test_all.py

bench: $(READY) ## Measure what recording costs; fails where a limit is missed
	$(PY) -m benchmarks.capture
	$(PY) -m benchmarks.document

gallery: $(READY) ## Write docs/gallery.md anew (CORPUS=an interpreter with transformers, monai and diffusers)
	$(PY) -m tools.gallery $(if $(CORPUS),--corpus $(CORPUS))

clean: ## Remove the environments and everything that was made
	rm -rf $(VENV) .venvs .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache build dist
