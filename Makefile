# Every target does its own set-up on a machine with Python 3.11+ and make.
SHELL := /bin/sh
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' && echo $$p && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
JOBS ?= auto

.PHONY: help demo test lint types check generate bench soak mutants clean

help:
	@echo "make demo      play one game through the whole bridge and open a live board"
	@echo "make test      every test (parts that are missing on this machine are skipped loudly)"
	@echo "make check     lint, types, generated files"
	@echo "make bench     the tables of benchmarks/"
	@echo "make soak      the big runs at full size"
	@echo "make mutants   put known faults back, one by one; the named test must fail"
	@echo "make generate  write what is derived: C code, SPEC tables, vectors, AsyncAPI"
	@echo "make clean     remove what these targets made"

demo: $(VENV)/.demo
	$(BIN)/tablectl demo $(DEMO_ARGS)

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(TEST_ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

check: lint types
	$(BIN)/python -m firmware_protocol.generate --check
	$(BIN)/python -m tablectl.bus.asyncapi --check

generate: $(VENV)/.dev
	$(BIN)/python -m firmware_protocol.generate
	$(BIN)/python -m tablectl.bus.asyncapi

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

soak: $(VENV)/.dev
	TABLECTL_SCALE=1 $(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m soak $(TEST_ARGS)

mutants: $(VENV)/.dev
	$(BIN)/python -m tests.mutants

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

# One virtual environment; the demo needs few packages, the tests bring the rest.
$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "tablectl needs Python 3.11 or newer; found none on PATH" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[demo]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/.demo
