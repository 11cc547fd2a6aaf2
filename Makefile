# `make demo` is the main job, `make test` the tests; `make help` lists everything.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
FUZZ_CASES ?= 10000
FUZZ_SEED ?= 1
SOAK_MINUTES ?= 10
SOAK_SEED ?= 1
INSTALLED := $(VENV)/installed

.DEFAULT_GOAL := help
.PHONY: help install demo test check format bench fuzz soak clean

help: ## list what there is
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 10

install: $(INSTALLED) ## make a virtual environment and install surefoot in it

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

demo: $(INSTALLED) ## train a small Ant repertoire, break a leg, walk on: about 4 minutes, results in demo/
	$(BIN)/surefoot demo --out demo --overwrite

test: $(INSTALLED) ## run the tests
	$(BIN)/python -m pytest --numprocesses auto --dist loadgroup

check: $(INSTALLED) ## format, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(INSTALLED) ## put the code in its format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(INSTALLED) ## measure simulation speed and memory; `python -m benchmarks --help` has more
	$(BIN)/python -m benchmarks simulation --out bench.json

fuzz: $(INSTALLED) ## change files of every kind at random, FUZZ_CASES=10000 with FUZZ_SEED=1; keep those that fail in fuzz/
	$(BIN)/python -m benchmarks fuzz --cases $(FUZZ_CASES) --seed $(FUZZ_SEED) --keep fuzz --out fuzz.json

soak: $(INSTALLED) ## kill runs at random and compare with undisturbed ones, for SOAK_MINUTES=10 with SOAK_SEED=1
	$(BIN)/python -m benchmarks soak --minutes $(SOAK_MINUTES) --seed $(SOAK_SEED) --out soak.json

clean: ## remove the virtual environment and what the demo made
	rm -rf $(VENV) demo demo-hexapod build *.egg-info
