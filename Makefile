# Every target does its own set-up: python3 and make are all a fresh machine needs.
PYTHON ?= python3
VENV := .venv
READY := $(VENV)/.ready

.PHONY: demo test quick proofs figures docs record compare-record

demo: $(READY)  ## train, measure, and print the measured gap against the bound of FedALS
	$(VENV)/bin/fedbounds validate fedals.one_round

test: $(READY)  ## every test but the slow ones, in two processes
	$(VENV)/bin/python -m pytest -q -n 2 --dist worksteal -m "not slow"

quick: $(READY)  ## the tests of bounds, of the command line and of the project's shape, and lint: for use while writing
	$(VENV)/bin/ruff check .
	$(VENV)/bin/python -m pytest -q -n 2 --dist worksteal -m "not slow" tests/bounds tests/test_architecture.py tests/test_command.py tests/test_every_bound.py

proofs:  ## every proof that comes with the worst cases, checked by Python's standard library alone; a minute
	$(PYTHON) -I paper_checks/worst_case/verify.py paper_checks/worst_case/tables/*.proofs.xz

figures: $(READY)  ## every figure and table at the laptop's scale, from the runs that are kept with the code, in figures-laptop
	$(VENV)/bin/fedbounds figure all --no-sweep

docs: $(READY)  ## the documentation site, docs/_build/html; any warning is an error
	$(VENV)/bin/sphinx-build -W --keep-going -q -b html -d docs/_build/read docs docs/_build/html

record: $(READY)  ## the numbers of everything the project can do, in tests/record
	$(VENV)/bin/python tests/tools/record.py

compare-record: $(READY)  ## compute all of them again and say what moved
	$(VENV)/bin/python tests/tools/record.py --compare

$(READY): pyproject.toml constraints.txt requirements.lock .ci/install
	@$(PYTHON) -c 'import sys; v = sys.version_info[:3]; \
	sys.exit(None if (3, 11, 5) <= v < (3, 14) else "Python 3.11.5 to 3.13 is needed: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	.ci/install $(VENV)/bin/python -e .
	touch $@
