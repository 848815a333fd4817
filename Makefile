# make run   serves the agents, prints where   make test   everything that must hold
# make bench compares speed with other engines make check  style, types and import rules alone
# make guards what the guards catch and miss    make mutants how often a test notices a broken line
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
READY   = $(VENV)/.ready
BENCHED = $(VENV)/.bench-ready

.PHONY: run test check check-deep bench guards mutants golden clean

run: $(READY)
	@$(BIN)/charter serve --fetch

test: $(READY) check
	@echo "── charters: locks and lint"
	@$(BIN)/charter verify
	@for name in sovereign contract workspace gateway assistant; do $(BIN)/charter check $$name || exit 1; done
	@echo "── tests of the core, every branch of it covered"
	@$(BIN)/python -m pytest -q -n 2 tests/core --cov=charter.core --cov-branch --cov-report=term:skip-covered --cov-fail-under=100
	@$(BIN)/python tools/browser.py
	@echo "── all other tests"
	@$(BIN)/python -m pytest -q -n 2 --dist worksteal --ignore=tests/core -m "not model"
	@echo "── tests with the embedded model (its weights are fetched once)"
	@$(BIN)/charter model fetch
	@$(BIN)/python -m pytest -q -m model --ignore=tests/core

check: $(READY)
	@echo "── style"
	@$(BIN)/ruff check src tests bench tools
	@$(BIN)/ruff format --check src tests bench tools
	@echo "── types"
	@$(BIN)/mypy
	@echo "── who may lean on whom"
	@$(BIN)/lint-imports

check-deep: $(READY)
	@$(BIN)/python -m pytest --deep -m deep -s

bench: $(BENCHED)
	@$(BIN)/python bench/assembly.py
	@$(BIN)/python bench/start.py
	@$(BIN)/python bench/store.py
	@$(BIN)/python bench/recall.py
	@$(BIN)/python bench/one_turn.py
	@$(BIN)/python bench/scale.py
	@$(BIN)/python bench/served.py

guards: $(READY)
	@$(BIN)/python -m tests.guards.measure

mutants: $(READY)
	@$(BIN)/python tools/mutants.py

golden: $(READY)
	@UPDATE_GOLDEN=1 $(BIN)/python -m pytest -q tests/charters/test_golden.py tests/core
	@git diff --stat -- tests

$(READY): constraints.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Charter needs Python 3.11 or newer; try: make $(MAKECMDGOALS) PYTHON=python3.11"; exit 1; }
	@echo "── first run: setting up $(VENV), about a minute"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --disable-pip-version-check --no-deps --require-hashes -r constraints.txt
	@$(BIN)/python -m pip install --disable-pip-version-check --no-deps --no-build-isolation --quiet -e .
	@touch $@

$(BENCHED): $(READY) bench/constraints.txt
	@$(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps --require-hashes -r bench/constraints.txt
	@touch $@

clean:
	@rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
