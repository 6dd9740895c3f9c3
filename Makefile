# Every target works from a fresh clone: the first one run makes .venv and installs the package into it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# One more than cores: tests often wait for a process or the browser.
WORKERS := $(shell $(PYTHON) -c "import os; print((os.cpu_count() or 1) + 1)")
# With a worker per core, threads of linear algebra would only wait for each other.
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

# Programs start hundreds of times, in tests too: keep byte code, also where the environment says no.
unexport PYTHONDONTWRITEBYTECODE
# uv installs in a tenth of pip's time; where it cannot be had, or fails, pip does the same.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
install = $(BIN)/python -m uv pip install --quiet --python $(BIN)/python --editable $(1) 2> /dev/null || \
	$(PIP) --editable $(1)

.PHONY: demo test test-all torture lint types style vulnerabilities format bench docs site package reproduce reproduce-neighbours reproduce-topics clean help

help:
	@echo "make demo      install, then train, tag, explain and score on the bundled corpus"
	@echo "make test      the test suite (minutes)"
	@echo "make test-all  the test suite with the long tests"
	@echo "make torture   kills, damage, hostile matrices and threads; resumes from torture.jsonl"
	@echo "make lint      ruff, mypy, bandit, spelling and house style"
	@echo "make vulnerabilities  known vulnerabilities of the libraries; needs the network"
	@echo "make bench     every benchmark, side by side with its peers; prints the tables"
	@echo "make reproduce every comparison of the papers (under three hours); writes docs/results.md"
	@echo "make docs      regenerate the generated pages and pictures of docs/"
	@echo "make site      build the documentation site, offline, in site/"
	@echo "make package   build and check what goes to PyPI, in dist/"

# One stamp per kind of install: `make demo` needs the plain package, the other targets its development
# extras.
$(VENV)/.plain: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	-$(PIP) uv
	$(call install,.)
	touch $@

$(VENV)/.dev: $(VENV)/.plain
	$(call install,".[dev]")
	touch $@

# Byte code of what tests import, and of the tests: each worker would compile all of it for itself.
$(VENV)/.bytecode: $(VENV)/.dev
	-$(BIN)/python -m pytest --collect-only --quiet --quiet > /dev/null
	touch $@

$(VENV)/.release: $(VENV)/.dev
	$(call install,".[release]")
	touch $@

$(VENV)/.long-tests: $(VENV)/.dev
	$(call install,".[long-tests]")
	touch $@

$(VENV)/.bench: $(VENV)/.dev
	$(call install,".[bench]")
	touch $@

demo: $(VENV)/.plain
	$(BIN)/manylabel demo

test: $(VENV)/.bytecode
	$(BIN)/manylabel warm --all
	$(ONE_THREAD) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not slow"

test-all: $(VENV)/.long-tests $(VENV)/.bytecode
	$(BIN)/manylabel warm --all
	$(ONE_THREAD) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --hypothesis-profile=random

torture: $(VENV)/.dev
	PYTHONPATH=tests $(BIN)/python -m torture.campaign

# `make --jobs=2 lint` runs the two at the same time.
lint: types style

types: $(VENV)/.dev
	$(BIN)/mypy

style: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/bandit --quiet --recursive --configfile pyproject.toml src
	$(BIN)/python -m pip check
	$(BIN)/codespell
	$(BIN)/python tools/house_style.py

# The list of known vulnerabilities is on the network; lint works without one.
vulnerabilities: $(VENV)/.dev
	test -x $(VENV)-audit/bin/pip-audit || $(PYTHON) -m venv $(VENV)-audit
	$(VENV)-audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit
	$(BIN)/python -m pip freeze --exclude-editable > $(VENV)-audit/requirements.txt
	$(VENV)-audit/bin/pip-audit --strict --no-deps --disable-pip -r $(VENV)-audit/requirements.txt

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

# What is finished in the folder reproduction does not run again. Two halves run at the same time,
# with one thread each.
RESULTS := OPENBLAS_NUM_THREADS=1 $(BIN)/python docs/make_results.py --jobs 1

reproduce: $(VENV)/.dev
	$(MAKE) --jobs=2 reproduce-neighbours reproduce-topics
	$(RESULTS)

reproduce-neighbours: $(VENV)/.dev
	$(RESULTS) --run-only --presets lcif-table-2 subset-llda-tables-2-4 subset-llda-trade-off

reproduce-topics: $(VENV)/.dev
	$(RESULTS) --run-only --presets rubin-figures-6-7-10-11 rubin-appendix-b rubin-examples lcif-table-3

docs: $(VENV)/.dev
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/make_images.py
	$(BIN)/python docs/make_charts.py
	$(BIN)/python docs/make_diagrams.py
	@if command -v chromium > /dev/null; then $(BIN)/python docs/make_screenshot.py; \
	else echo "Chromium is not installed: the screenshots were not updated."; fi

site: $(VENV)/.release
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	@echo "Read it with: $(PYTHON) -m http.server -d site"

package: $(VENV)/.release
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*

clean:
	rm -rf $(VENV) $(VENV)-audit .pytest_cache .mypy_cache .ruff_cache
