# A Handful of Equations: `make serve` reads the book, `make test` checks all of it.  Both install what they need.
PYTHON ?= $(firstword $(foreach p,python3.13 python3.12 python3.11 python3.14 python3 python,$(if $(shell $(p) -c 'import sys; print(sys.version_info >= (3, 11) or "")' 2>/dev/null),$(p))))
PORT ?= 8000
NAME ?=
MODULE ?=
ARGS ?=
COUNT ?= 100
JOBS ?= 2
PAPER ?= a4
RUN = .venv/bin/python -P
# Side by side, as many as JOBS; whoever is idle takes over half of another's tests.
TESTS = $(RUN) -m pytest -n $(JOBS) --dist worksteal
export PYTHONHASHSEED = 0
# Matrices here are small: several threads a process only wait for each other.  Compiled modules are kept.
export OPENBLAS_NUM_THREADS = 1
export OMP_NUM_THREADS = 1
unexport PYTHONDONTWRITEBYTECODE
# Tests of the built book live in two folders: to collect all others and leave them out would cost half a minute.
SITE = -m site tests/notebooks tests/book
UNITS = -m "not site" --ignore=tests/book --ignore=tests/notebooks

.PHONY: help check serve build bundle notebooks chapter test unit pages coverage mutants bench bench-grading fuzz nbgrader lock clean tools browser three-browsers publish lighthouse sphinx9 links servers browsers trees pdf epub editions accessible notebooks-clean lab-check hub-check quiz-check test-units test-book tests

help:
	@echo "make serve             build the book and serve it on this machine (PORT=8000)"
	@echo "make test              every test: units, doctests, the book, its notebooks, real browser (JOBS=2)"
	@echo "make check             formatting, linters, types and layers, in seconds; 'make test' begins with it"
	@echo "make chapter NAME=...  build one chapter, in seconds, into _build/chapter"
	@echo "make build             build the whole book into _build/html"
	@echo "make notebooks         the chapters as .ipynb in _build/notebooks"
	@echo "make pdf               the book for paper in _build/editions (PAPER=letter); 'make epub' for e-readers, 'make editions' both"
	@echo "make publish           the book for a web server in _build/public (BASE_URL=https://...),"
	@echo "                       every page looked at with axe-core and every link tried first (CHECK=no: neither)"
	@echo "make notebooks-clean   run every .ipynb in a new environment, with the package as its first cell installs it"
	@echo "make lab-check         a chapter in JupyterLab in a real browser: run all, move a slider (NAME=...)"
	@echo "make unit ARGS=...     unit tests and doctests only"
	@echo "make pages             browser tests only, on the book as last built"
	@echo "make coverage          unit tests with branches counted; fails below 95 %"
	@echo "make mutants MODULE=.. change the formulas one step at a time; fails where no test notices"
	@echo "make browsers          a walk through the built book in Chromium, Firefox and WebKit (JOBS=2)"
	@echo "make trees             store anew what a screen reader is told (tests/data/accessibility)"
	@echo "make accessible        axe-core on every page of the book as last built, light and dark"
	@echo "make hub-check         five students on a JupyterHub: nbgitpuller's link, answers, hand-in folder, grades"
	@echo "make quiz-check        the exported quizzes, read back by programs that are not ours"
	@echo "make bench             measure the budgets: import, sweeps, frames beside stock (ARGS=\"frames balance-batch\")"
	@echo "make bench-grading     grade a class of COUNT=100 beside a Jupyter kernel that runs the same notebooks"
	@echo "make fuzz              COUNT=100000 arbitrary inputs for each reader of what students send (ARGS=reader)"
	@echo "make nbgrader          nbgrader itself on exported assignments, in an environment of its own"
	@echo "make lighthouse        Lighthouse on four pages, phone and desktop; fails below its bars"
	@echo "make servers           the published book on nginx and Apache: types, headers, caching, 404, moved pages"
	@echo "make sphinx9           the same sources with plain Sphinx 9 and myst-nb, in an environment of its own"
	@echo "make links             try every address outside that the book names, and note the day (needs a network)"
	@echo "make lock              resolve the lock files again from pyproject.toml"
	@echo "make clean             remove what was built; 'make clean ARGS=all' the installed tools too"

# tools: what the book is built with.  tests: what `make test` uses; where a browser or a sandbox cannot be had, it says so
# and goes on.  browser: the same for whatever makes no sense without a browser.  three-browsers: Firefox and WebKit as well.
tools tests browser three-browsers:
	@if [ -z "$(PYTHON)" ]; then echo "Python 3.11 or newer is needed and none is on the PATH; name one: make PYTHON=/path/to/python3.12" >&2; exit 1; fi
	@"$(PYTHON)" -P lib/handful_site/bootstrap.py $(@:three-%=%)

build: tools
	@$(RUN) -m handful_site.build

notebooks: tools
	@$(RUN) -m handful_site.build notebooks

# Both take minutes and a network, so they stand apart from `make test`.
notebooks-clean: tools
	@$(RUN) tests/notebooks_clean.py $(NAME)

lab-check: browser
	@$(RUN) tests/lab_check.py $(NAME)

# Installs 600 MB into _build/hub: the hub with its proxy, JupyterLab, nbgitpuller.
hub-check: tools
	@$(RUN) tests/hub_check.py

quiz-check: tools
	@$(RUN) tests/quiz_check.py

bundle: tools
	@$(RUN) -m handful_site.build bundle

chapter: tools
	@$(RUN) -m handful_site.build chapter "$(NAME)"

pdf: browser
	@$(RUN) -m handful_site.print pdf --paper $(PAPER)

epub: tools
	@$(RUN) -m handful_site.print epub

editions: browser
	@$(RUN) -m handful_site.print --paper $(PAPER)

publish: $(if $(filter no,$(CHECK)),tools,browser)
	@BASE_URL="$(BASE_URL)" $(RUN) -m handful_site.publish --jobs $(JOBS) $(if $(CHECK),--check $(CHECK))

# The port is tried before the build, so that nobody waits for a book that cannot be shown.
serve: tools
	@$(RUN) -m handful_site.serve --port $(PORT) --try
	@$(MAKE) --no-print-directory build
	@$(RUN) -m handful_site.serve --port $(PORT)

check: tests
	@$(RUN) tests/check.py

unit: tests bundle
	@$(TESTS) $(UNITS) $(ARGS)

pages: browser
	@$(TESTS) $(SITE) $(ARGS)

servers: browser
	@$(RUN) -m pytest -q tests/book/real_servers.py $(ARGS)

accessible: browser
	@EVERY_PAGE=1 $(TESTS) -m site tests/book/test_accessible.py $(ARGS)

# Each browser goes its way in one process; -v names each step while it runs.
browsers: three-browsers
	@$(RUN) -m pytest -n $(JOBS) --dist loadgroup -v tests/book/browsers.py $(ARGS)

trees: browser
	@REWRITE=1 $(RUN) -m pytest -q tests/book/test_trees.py $(ARGS)

coverage: tests bundle
	@$(RUN) -m coverage run --branch -m pytest -q -m "not site" $(ARGS)
	@$(RUN) -m coverage run --branch --append -m pytest -q tests/book/test_server.py
	@$(RUN) -m coverage report

mutants: tests
	@JOBS=$(JOBS) $(RUN) tests/mutants.py $(MODULE)

# The book is built on one core, so unit tests run beside it.  Then what reads the book.  The verdict counts both runs, and
# what could not run on this machine.
test: check
	@$(RUN) -m handful_site.build bundle
	@echo "== unit tests and doctests, while the book is built (its progress: _build/book.log)"
	@$(MAKE) --no-print-directory -j 2 test-book test-units
	@tail -n 3 _build/book.log
	@echo "== notebooks and pages"
	@$(TESTS) $(SITE) --junitxml=_build/tests/book.xml $(ARGS); passed=$$?; $(RUN) tests/verdict.py _build/tests/units.xml _build/tests/book.xml; exit $$passed

test-units:
	@$(TESTS) -q $(UNITS) --junitxml=_build/tests/units.xml $(ARGS)

test-book:
	@$(RUN) -m handful_site.build > _build/book.log 2>&1 || { cat _build/book.log; exit 1; }

bench: browser build
	@$(RUN) tests/bench.py $(ARGS)

bench-grading: tools
	@$(RUN) tests/bench_grading.py $(COUNT)

fuzz: COUNT = 100000
fuzz: tests
	@$(RUN) tests/fuzz.py --count $(COUNT) $(ARGS)

nbgrader: tools
	@$(RUN) tests/nbgrader_check.py $(ARGS)

lighthouse: browser
	@$(RUN) -m handful_site.build
	@$(RUN) tests/lighthouse.py $(ARGS)

sphinx9: tools bundle
	@$(RUN) tests/sphinx9.py $(ARGS)

# ARGS=update brings the list up to date with the book and asks nobody.
links: tools
	@$(RUN) tests/book/external_links.py $(ARGS)

lock: tools
	@$(RUN) -m handful_site.lock

clean:
	@rm -rf _build .pytest_cache .hypothesis
	@if [ "$(ARGS)" = all ]; then rm -rf .venv node_modules; fi
