# A Handful of Equations: `make serve` reads the book, `make test` checks all of it.  Both install what they need.
PYTHON ?= $(firstword $(foreach p,python3.13 python3.12 python3.11 python3 python,$(if $(shell $(p) -c 'import sys; print(sys.version_info >= (3, 11) or "")' 2>/dev/null),$(p))))
PORT ?= 8000
NAME ?=
MODULE ?=
ARGS ?=
COUNT ?= 100
JOBS ?= 2
RUN = .venv/bin/python -P
# Side by side, as many as JOBS; whoever is idle takes over half of another's tests.
TESTS = $(RUN) -m pytest -n $(JOBS) --dist worksteal
export PYTHONHASHSEED = 0

.PHONY: help serve build bundle notebooks notebooks-clean lab-check chapter test unit pages coverage mutants bench bench-grading nbgrader lock clean tools browser

help:
	@echo "make serve             build the book and serve it on this machine (PORT=8000)"
	@echo "make test              every test: units, doctests, the book, its notebooks, real browser (JOBS=2)"
	@echo "make chapter NAME=...  build one chapter, in seconds, into _build/chapter"
	@echo "make build             build the whole book into _build/html"
	@echo "make notebooks         the chapters as .ipynb in _build/notebooks"
	@echo "make notebooks-clean   run every .ipynb in a new environment, with the package as its first cell installs it"
	@echo "make lab-check         a chapter in JupyterLab in a real browser: run all, move a slider (NAME=...)"
	@echo "make unit ARGS=...     unit tests and doctests only"
	@echo "make pages             browser tests only, on the book as last built"
	@echo "make coverage          unit tests with branches counted; fails below 95 %"
	@echo "make mutants MODULE=.. change the formulas one step at a time; fails where no test notices"
	@echo "make bench             measure the budgets: import, sweeps, page weight"
	@echo "make bench-grading     grade a class of COUNT=100 beside a Jupyter kernel that runs the same notebooks"
	@echo "make nbgrader          nbgrader itself on exported assignments, in an environment of its own"
	@echo "make lock              resolve requirements.lock again from pyproject.toml"
	@echo "make clean             remove what was built; 'make clean ARGS=all' the installed tools too"

tools:
	@if [ -z "$(PYTHON)" ]; then echo "Python 3.11 or newer is needed and none is on the PATH; name one: make PYTHON=/path/to/python3.12" >&2; exit 1; fi
	@$(PYTHON) -P lib/handful/page/bootstrap.py

browser: tools
	@$(PYTHON) -P lib/handful/page/bootstrap.py browser

build: tools
	@$(RUN) -m handful.page.build

notebooks: tools
	@$(RUN) -m handful.page.build notebooks

# Both take minutes and a network, so they stand apart from `make test`.
notebooks-clean: tools
	@$(RUN) tests/notebooks_clean.py $(NAME)

lab-check: browser
	@$(RUN) tests/lab_check.py $(NAME)

bundle: tools
	@$(RUN) -m handful.page.build bundle

chapter: tools
	@$(RUN) -m handful.page.build chapter "$(NAME)"

serve: build
	@$(RUN) -m handful.page.serve --port $(PORT)

unit: bundle
	@$(TESTS) -m "not site" $(ARGS)

pages: browser
	@$(TESTS) -m site tests $(ARGS)

coverage: bundle
	@$(RUN) -m coverage run --branch -m pytest -q -m "not site" $(ARGS)
	@$(RUN) -m coverage run --branch --append -m pytest -q tests/pages/test_server.py
	@$(RUN) -m coverage report

mutants: tools
	@JOBS=$(JOBS) $(RUN) tests/mutants.py $(MODULE)

# First what is quick and says most, then the book, then what reads the book.  One pytest run closes all:
# its last line is the verdict.
test: browser
	@$(RUN) -m handful.page.build bundle
	@echo "== unit tests and doctests"
	@$(TESTS) -q -m "not site" $(ARGS)
	@echo "== the book"
	@$(RUN) -m handful.page.build
	@echo "== notebooks and pages"
	@$(TESTS) -m site tests $(ARGS)

bench: build
	@$(RUN) tests/bench.py

bench-grading: tools
	@$(RUN) tests/bench_grading.py $(COUNT)

nbgrader: tools
	@$(RUN) tests/nbgrader_check.py $(ARGS)

lock: tools
	@$(RUN) -m handful.page.lock

clean:
	@rm -rf _build .pytest_cache .hypothesis
	@if [ "$(ARGS)" = all ]; then rm -rf .venv node_modules; fi
