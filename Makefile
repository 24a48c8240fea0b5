# Needs GNU make and Python >= 3.11 with venv; nothing else need be installed. All targets keep to .venv.
PYTHON ?= python3

# Names relative to this folder, so that its own path may hold spaces.
CODE = $(wildcard staffing tests case_studies benchmarks)
BIN = .venv/bin

# A .venv holds absolute paths: one that came along when its folder was moved or copied is made anew.
MOVED := $(shell [ -f .venv/folder ] && [ "$$(cat .venv/folder)" != "$$(pwd -P)" ] && echo moved)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo test lint bench clean moved

help:
	@echo 'make demo | test | lint | bench | clean: bank case study; tests; ruff and mypy; speed; remove what make made'

demo: .venv/ready
	$(BIN)/staffing optimize case_studies/bank_1999/scenario.toml --csv bank_1999.csv

test: .venv/ready-dev
	$(BIN)/python -m pytest $(ARGS)

lint: .venv/ready-dev
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy

# In one process, alone: a clock shared with other tests measures them too.
bench: .venv/ready-bench
	$(BIN)/python -m pytest -n0 --quiet --disable-warnings --benchmark-quiet --benchmark-disable-gc benchmarks $(ARGS)

clean:
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks .coverage bank_1999.csv
	find $(CODE) -name __pycache__ -type d -prune -exec rm -rf {} +

# `.venv/unfinished` is there from before the first step until after the last, so that a set-up cut short
# starts afresh. A .venv that somebody made by hand is taken as it is.
define set_up
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo 'Python 3.11 or later is needed; name one: make PYTHON=python3.12 ...' >&2; exit 1; }
	@if [ -n '$(MOVED)' ] || [ -e .venv/unfinished ]; then rm -rf .venv; fi
	@echo 'Setting up .venv with $(1): a minute or two, needed once ...' >&2
	@mkdir -p .venv && : > .venv/unfinished
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '$(1)'
	@pwd -P > .venv/folder
	@touch $(2) && rm .venv/unfinished
endef

.venv/ready: pyproject.toml $(MOVED)
	$(call set_up,.,.venv/ready)

.venv/ready-dev: pyproject.toml $(MOVED)
	$(call set_up,.[dev],.venv/ready .venv/ready-dev)

.venv/ready-bench: pyproject.toml $(MOVED)
	$(call set_up,.[bench],.venv/ready .venv/ready-bench)
