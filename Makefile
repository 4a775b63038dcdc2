# Every target sets up what it needs and makes it anew when the dependencies change: .venv-demo for the demo, .venv for
# everything else. uv is used where it is installed, pip otherwise.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
DEMO_STAMP := .venv-demo/.installed
EVERYTHING := --editable '.[dev,train]'
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

# $(call make_venv,FOLDER) and $(call install,FOLDER,WHAT). Where uv cannot find a package, pip may: it knows indexes and
# folders of wheels from settings that uv does not read.
ifneq ($(shell command -v uv 2>/dev/null),)
make_venv = uv venv --quiet --allow-existing --seed --python "$$(command -v $(PYTHON))" $(1)
install = uv pip install --quiet --python $(1)/bin/python --constraint constraints.txt $(2) || $(1)/bin/python $(PIP_INSTALL) $(2)
else
make_venv = $(PYTHON) -m venv $(1)
install = $(1)/bin/python $(PIP_INSTALL) $(2)
endif

.PHONY: help setup demo test test-fast lint format bench clean python

help:
	@echo "make demo       run, score, explain and report the floor baseline on the embedded suite, and make a board, offline"
	@echo "make test-fast  run the quick tests, with fewer drawn examples: for daily work"
	@echo "make test       run all tests (over real files too where ISOGLOSS_DATA points at a data folder)"
	@echo "make lint       ruff, mypy --strict, import layers"
	@echo "make bench      measure against the peer libraries, side by side"

python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed (make PYTHON=…)"; exit 1; }

$(DEMO_STAMP): pyproject.toml | python
	$(call make_venv,.venv-demo)
	$(call install,.venv-demo,--editable '.[charts]')
	@touch $@

# torch comes first and by pip: an index that uv looks at may have it with gigabytes of CUDA only.
$(STAMP): pyproject.toml constraints.txt | python
	$(call make_venv,.venv)
	$(BIN)/python $(PIP_INSTALL) torch
	$(call install,.venv,$(EVERYTHING))
	@touch $@

setup: $(STAMP)

demo: $(DEMO_STAMP)
	.venv-demo/bin/isogloss demo

test: setup
	$(BIN)/python -m pytest -n auto --dist loadfile -q

test-fast: setup
	HYPOTHESIS_PROFILE=fast $(BIN)/python -m pytest -n auto --dist loadfile -q -m "not slow"

lint: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: setup
	$(call install,.venv,--requirement benchmarks/requirements.txt)
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf .venv .venv-demo .pytest_cache .mypy_cache .ruff_cache .hypothesis out
