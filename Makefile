# The project's commands. `make run` shows it at work; `make test` proves that it works.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed-
HANDBOOK := examples/handbook
# Options of the service, such as SERVE="--port 8080".
SERVE ?=
# The folders to compare on.
SETS ?=

.DEFAULT_GOAL := help
.PHONY: help run test quick check docs format bench peers clean

help:
	@echo "make run     index the example handbook, answer three questions about it, and serve it"
	@echo "make test    run all checks and tests"
	@echo "make quick   run the tests that need no server, browser or Docusaurus, in under two minutes"
	@echo "make check   ruff, ruff format and mypy alone"
	@echo "make docs    build the documentation as a site, in site/"
	@echo "make format  put the code into the agreed form"
	@echo "make bench   measure the speeds that the documentation states"
	@echo "make peers   compare with other libraries, on the folders in SETS"

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Pertinent needs Python 3.11 or newer; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(STAMP)run: $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	@touch $@

$(STAMP)dev: $(STAMP)run pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

run: $(STAMP)run
	@$(BIN)/pertinent index $(HANDBOOK)
	@for question in "How do ROS 2 nodes communicate?" "What is a URDF joint?" "How do I keep a humanoid from falling over?"; do \
	  printf '\n%s\n\n' "$$question"; \
	  $(BIN)/pertinent search --top-k 2 "$$question"; \
	done
	@echo
	@$(BIN)/pertinent serve $(SERVE)

check: $(STAMP)dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: check
	@$(BIN)/python -m tests.servers.binary
	@# Docusaurus is installed and builds the handbook while the first tests run; those that need it wait.
	@$(BIN)/python -m tests.sources.docusaurus_build >/dev/null 2>&1 & \
	$(BIN)/pytest --numprocesses 2 --dist worksteal

quick: $(STAMP)dev
	$(BIN)/pytest --numprocesses 2 --dist load --hypothesis-profile quick -m "not slow"

docs: $(STAMP)dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

format: $(STAMP)dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP)dev
	$(BIN)/python benchmarks/run.py

peers: $(STAMP)dev
	@test -n "$(SETS)" || { echo 'Name the folders to compare on: make peers SETS="FOLDER …" (docs/comparison.md)'; exit 1; }
	$(BIN)/python benchmarks/comparing.py $(SETS)

clean:
	rm -rf $(VENV) .pertinent
