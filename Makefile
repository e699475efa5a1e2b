# What a newcomer needs: make demo, make test. What a maintainer needs: the rest.
# Everything happens in .venv, on the installed wheel; PYTHON names the interpreter to use.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find verifier registry policies schemas docs/codes examples trust -type f -not -name '*.pyc') pyproject.toml README.md LICENSE
OFFLINE := tests/offline

.PHONY: demo test lint registry readme bench soak wheel clean

demo: $(VENV)/installed
	@sh examples/demo.sh $(BIN)/pinproof $(BIN)/python

test: $(VENV)/tests
	$(OFFLINE) $(BIN)/pytest -n 2 -m "not full"

lint: $(VENV)/lint
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# Keys are made, used and discarded: see docs/registry.md. It runs from the checkout, so that a
# registry that does not authenticate never reaches .venv; README shows the new expiry.
registry:
	test -x $(BIN)/pinproof || $(MAKE) --no-print-directory $(VENV)/installed
	$(BIN)/python -m verifier sign registry --seal registry
	$(MAKE) --no-print-directory readme

readme: $(VENV)/installed
	mkdir -p build
	sh examples/demo.sh $(BIN)/pinproof $(BIN)/python > build/demo.txt
	$(BIN)/python tests/readme_shows.py --write build/demo.txt

bench: $(VENV)/tests
	$(BIN)/python benchmarks/run.py --receipts receipts

soak: $(VENV)/tests
	$(OFFLINE) $(BIN)/pytest -n 2 --hypothesis-profile=soak tests tests/soak

wheel: $(VENV)/wheel

clean:
	rm -rf $(VENV) .venv-other build dist

$(VENV)/python:
	$(PYTHON) -c 'import sys; sys.exit("pinproof needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build
	touch $@

$(VENV)/wheel: $(VENV)/python $(SOURCES)
	rm -rf dist
	$(BIN)/python -m build --wheel --outdir dist . > $(VENV)/build.log || { cat $(VENV)/build.log; exit 1; }
	touch $@

$(VENV)/installed: $(VENV)/wheel
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps dist/*.whl
	$(BIN)/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	touch $@

$(VENV)/tests: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "$$(ls dist/*.whl)[test]"
	touch $@

$(VENV)/lint: $(VENV)/tests
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "$$(ls dist/*.whl)[lint]"
	touch $@

# Other readers of git stores, which the suite compares with where they are installed, and what
# reads the surfaces: pre-commit, zizmor, shellcheck, the schema of SARIF.
$(VENV)/peers: $(VENV)/lint
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "$$(ls dist/*.whl)[peers]"
	touch $@
