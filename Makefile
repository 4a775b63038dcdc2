# Every target sets up what it needs: a virtual environment in .venv, made anew when the dependencies change.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: help setup demo test lint format bench clean

help:
	@echo "make demo   run, score, explain and report the floor baseline on the embedded suite, offline"
	@echo "make test   run the tests (over real files too where ISOGLOSS_DATA points at a data folder)"
	@echo "make lint   ruff, mypy --strict, import layers"
	@echo "make bench  measure against the peer libraries, side by side"

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed (make PYTHON=…)"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,train]'
	@touch $@

setup: $(STAMP)

demo: setup
	$(BIN)/isogloss demo

test: setup
	$(BIN)/python -m pytest -n auto --dist loadfile -q

lint: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --requirement benchmarks/requirements.txt
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis out
