# The project's commands. `make run` shows it at work; `make test` proves that it works.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed-
HANDBOOK := examples/handbook
# Options of the service, such as SERVE="--port 8080".
SERVE ?=
# Many tests wait for servers and time limits: two processes more than two cores keep these busy.
TEST_PROCESSES ?= 4
# The extras of the service's image.
SERVICE_EXTRAS := postgres cohere otel
# The folders to compare on.
SETS ?=

# Each test process, and each command that a test starts, would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run builds test quick check docs format widget constraints bench peers clean

help:
	@echo "make run     index the example handbook, answer three questions about it, and serve it"
	@echo "make test    run all checks and tests"
	@echo "make quick   run the tests that need no server, browser or Docusaurus, in two minutes"
	@echo "make check   ruff, ruff format and mypy alone"
	@echo "make docs    build the documentation as a site, in site/"
	@echo "make format  put the code into the agreed form"
	@echo "make constraints  write the hashes of the packages that the service needs"
	@echo "make widget  build widget.js from packages/, with Node.js"
	@echo "make bench   measure the speeds that the documentation states"
	@echo "make peers   compare with other libraries, on the folders in SETS"

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Pertinent needs Python 3.11 or newer; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(STAMP)run: $(VENV)/bin/python pyproject.toml constraints/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints/dev.txt --editable .
	@touch $@

$(STAMP)dev: $(STAMP)run pyproject.toml constraints/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints/dev.txt --editable '.[dev]'
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

# Docusaurus is installed and builds the handbook while the first tests run; the tests that need the builds wait for them.
builds: $(STAMP)dev
	@$(BIN)/python -m tests.servers.binary
	@{ $(BIN)/python -m tests.sources.docusaurus_build; $(BIN)/python -m tests.packages.npm_build; } >/dev/null 2>&1 &

# mypy needs one core for half a minute, in which the tests begin. What the checks print follows the tests.
test: builds
	@$(MAKE) --no-print-directory check >$(VENV)/check.log 2>&1 & check=$$!; \
	$(BIN)/pytest --numprocesses $(TEST_PROCESSES) --dist worksteal; tested=$$?; \
	wait $$check; checked=$$?; cat $(VENV)/check.log; exit $$((tested | checked))

quick: $(STAMP)dev
	$(BIN)/pytest --numprocesses 2 --dist load --hypothesis-profile quick -m "not slow"

docs: $(STAMP)dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

format: $(STAMP)dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# For every platform and Python version, in the versions of constraints/dev.txt.
COMPILE = UV_CUSTOM_COMPILE_COMMAND="make constraints" $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 \
  --generate-hashes --no-annotate --constraint constraints/dev.txt

constraints: $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(COMPILE) $(SERVICE_EXTRAS:%=--extra %) --output-file constraints/runtime.txt pyproject.toml
	@# What builds our own wheel.
	echo hatchling | $(COMPILE) --output-file constraints/build.txt -

widget:
	cd packages && npm install --no-audit --no-fund --no-package-lock && npm run widget

bench: $(STAMP)dev
	$(BIN)/python benchmarks/run.py

peers: $(STAMP)dev
	@test -n "$(SETS)" || { echo 'Name the folders to compare on: make peers SETS="FOLDER …" (docs/comparison.md)'; exit 1; }
	$(BIN)/python benchmarks/comparing.py $(SETS)

clean:
	rm -rf $(VENV) .pertinent
