# `make demo` is the main job, `make test` the tests; `make help` lists everything.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BROWSER ?= /usr/bin/chromium
EXAMPLES ?= 1000
SOAK_MINUTES ?= 10
SOAK_SEED ?= 1
OLDEST_TESTS ?= tests/surefoot/test_api.py tests/surefoot/test_recover_command.py tests/robots tests/repertoire/storage \
	tests/repertoire/execution tests/repertoire/test_plots.py tests/adapt/test_recovery.py tests/suites/test_statistics.py
FAST_TESTS ?= $(addprefix tests/repertoire/,algorithms archives emitters networks problems strategies) \
	$(addprefix tests/robots/,controllers simulation task) tests/adapt/selectors \
	$(wildcard tests/adapt/test_confirmation.py tests/adapt/test_damage_texts.py tests/suites/test_statistics.py tests/test_page_figures.py)
# a file runs on one worker, and files in their order: the last ones are short
PARALLEL := --numprocesses auto --dist loadfile --no-loadscope-reorder
INSTALLED := $(VENV)/installed

.DEFAULT_GOAL := help
.PHONY: help install demo test test-fast test-slow test-browser test-oldest check docs format bench fuzz soak clean

help: ## list what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

install: $(INSTALLED) ## make a virtual environment and install surefoot in it

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,docs]'
	touch $@

demo: $(INSTALLED) ## train gaits around a policy, break a leg, walk on: about 2 minutes, results in demo/
	$(BIN)/surefoot demo --out demo --overwrite

test: $(INSTALLED) ## run the tests, but for those of test-slow
	$(BIN)/python -m pytest $(PARALLEL) -m "not slow and not real_time"

test-fast: $(INSTALLED) ## run units and laws, after every edit
	$(BIN)/python -m pytest $(PARALLEL) -m "not slow and not real_time" $(FAST_TESTS)

test-slow: $(INSTALLED) ## run the tests that take minutes: whole studies and programs, and what keeps time with a clock
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal -m slow
	$(BIN)/python -m pytest -m real_time

test-browser: $(INSTALLED) ## run the tests of the explorer in a real browser: BROWSER=/usr/bin/chromium
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[browser]'
	SUREFOOT_BROWSER=$(BROWSER) $(BIN)/python -m pytest tests/browser

test-oldest: ## run a slice of the tests with the lowest versions that pyproject.toml allows, in .venv-oldest
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check uv
	.venv-oldest/bin/uv pip install --quiet --python .venv-oldest/bin/python --resolution lowest-direct --editable '.[dev]'
	NUMBA_CACHE_DIR=.venv-oldest/kernels .venv-oldest/bin/python -m pytest -p no:cacheprovider $(PARALLEL) $(OLDEST_TESTS)

check: $(INSTALLED) ## format, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

docs: $(INSTALLED) ## build the documentation in docs/_build/html, and check its links
	$(BIN)/python docs/tables.py
	$(BIN)/sphinx-build -W --keep-going --quiet -b html docs docs/_build/html
	$(BIN)/surefoot explore hexapod --damage left_front:lost --selector rehearsed --trials 8 --export docs/_build/html/tutorials/hexapod.html --overwrite
	$(BIN)/python docs/check_links.py

format: $(INSTALLED) ## put the code in its format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(INSTALLED) ## measure simulation speed and memory; `python -m benchmarks --help` has more
	$(BIN)/python -m benchmarks simulation --out bench.json

fuzz: $(INSTALLED) ## change files of every kind, EXAMPLES=1000 of each, and read them
	SUREFOOT_EXAMPLES=$(EXAMPLES) $(BIN)/python -m pytest --numprocesses auto tests/test_changed_files.py

soak: $(INSTALLED) ## kill runs at random and compare with undisturbed ones, for SOAK_MINUTES=10 with SOAK_SEED=1
	$(BIN)/python -m benchmarks soak --minutes $(SOAK_MINUTES) --seed $(SOAK_SEED)

clean: ## remove the virtual environment and what the demo made
	rm -rf $(VENV) demo build docs/_build *.egg-info
