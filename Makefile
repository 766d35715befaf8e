# Each target makes its own virtual environment: Python 3.11 or later is all that is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
# A script beside a clone named hardness/ would otherwise import the clone as an empty namespace package.
EDITABLE := --config-settings editable_mode=compat --editable
# The first run: says what it installs, with a progress bar where there is a terminal.
LOUD := $(BIN)/python -m pip --disable-pip-version-check install --constraint constraints.txt
# Tests start hundreds of processes: each would compile the package again where no bytecode is kept.
export PYTHONDONTWRITEBYTECODE :=
# One process of tests a core and one more, since some wait for others' processes to end; eight at
# most: each takes 0.6 GB. Who is done takes from the others.
CORES ?= $$(($$(getconf _NPROCESSORS_ONLN) + 1))
TESTS := $(BIN)/python -m pytest --durations 20 --numprocesses $(CORES) --maxprocesses 8 --dist worksteal
# The files that hold a mark, and no others: to collect all of them takes longer than to run these.
MARKED = $(BIN)/python -m pytest -m $(1) $$(grep -rl --include='*.py' 'mark\.$(1)' tests)

.PHONY: demo dist test test-slow weekly test-weekly test-kernels test-lattice check lint types layers bench evidence results tables limit-tables attack-tables lifted-tables studies estimator-table test-plugins test-cluster ladder-tables clean figures notebooks docs pdf test-docs forge

demo: $(VENV)/.core
	$(BIN)/hardness demo --out out

test: $(VENV)/.test
	$(TESTS)

# What takes seconds: pages of the manual, figures, the table of the README, commands in processes.
test-slow: $(VENV)/.test
	$(TESTS) -m slow $$(grep -rl --include="test_*.py" "mark\.slow" tests)

# More cases of what `make test` holds on fewer, the numerical tests as the oldest kernel rounds, and
# 100,000 forged certificates: once a week.
weekly: test-weekly test-kernels forge

test-weekly: $(VENV)/.test
	$(TESTS) -m weekly $$(grep -rl --include="test_*.py" "mark\.weekly" tests)

# The numerical tests, rounded as the oldest kernel of OpenBLAS rounds; `make test` runs the newest.
test-kernels: $(VENV)/.test
	$(BIN)/python tests/kernels.py --numprocesses $(CORES) --maxprocesses 8 --dist worksteal

check: lint types layers test

test-lattice: $(VENV)/.lattice
	$(call MARKED,lattice)

test-plugins: $(VENV)/.plugins
	$(call MARKED,plugins)

test-cluster: $(VENV)/.cluster
	$(call MARKED,cluster)

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going --fresh-env --quiet docs build/docs
	@echo build/docs/index.html

# The mathematics as one document; needs pdflatex and latexmk.
pdf: $(VENV)/.docs
	$(BIN)/python -m sphinx --builder latex --fresh-env --quiet docs build/latex
	cd build/latex && latexmk -pdf -interaction=nonstopmode -quiet mathematics.tex
	@echo build/latex/mathematics.pdf

test-docs: docs
	$(call MARKED,docs)

lint: $(VENV)/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.test
	$(BIN)/mypy
	$(BIN)/mypy benchmarks
	$(BIN)/mypy docs/studies

layers: $(VENV)/.test
	$(BIN)/lint-imports

# A wheel and an sdist, and the wheel at work in an environment of its own.
dist: $(VENV)/.test
	$(PIP) build
	rm -rf dist build/dist && $(BIN)/python -m build --outdir dist . > /dev/null
	$(PYTHON) -m venv build/dist
	build/dist/bin/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt dist/*.whl
	cd build/dist && ls lib/python*/site-packages/hardness/py.typed lib/python*/site-packages/instances/py.typed
	cd build/dist && bin/hardness certify parity:d=1000,m=21 --out c.json && bin/hardness check c.json
	rm -rf hardness/bounds/checker/__pycache__ && $(PYTHON) -m zipapp hardness/bounds/checker --output dist/checker.pyz
	cd build/dist && $(PYTHON) -I -S ../../dist/checker.pyz c.json
	cd build/dist && bin/hardness compare parity:m=2 --over d=6..8 --seeds 1 --out both --quiet
	@ls dist

bench: $(VENV)/.test
	$(BIN)/python benchmarks/run.py > benchmarks.part && mv benchmarks.part docs/benchmarks.md
	cat docs/benchmarks.md

tables: $(VENV)/.test
	$(BIN)/python benchmarks/staged.py > tables.part && mv tables.part docs/staged-tables.md
	cat docs/staged-tables.md

# Half an hour, on two cores.
limit-tables: $(VENV)/.test
	$(BIN)/python benchmarks/staged.py limits > limits.part && mv limits.part docs/staged-limits.md
	cat docs/staged-limits.md

lifted-tables: $(VENV)/.test
	$(BIN)/python benchmarks/lifted.py > lifted.part && mv lifted.part docs/lifted-tables.md
	cat docs/lifted-tables.md

ladder-tables: $(VENV)/.plugins
	$(BIN)/python benchmarks/ladders.py > ladders.part && mv ladders.part docs/ladder-tables.md
	cat docs/ladder-tables.md

# What the sources state beside what is measured, and the tables of in-context regression: an hour on
# two cores. What is measured stays in build/studies: an interrupted command goes on.
SUBJECTS := sums rows bodies stages spectra queries sources in_context
studies: $(SUBJECTS:%=build/studies/%.md) build/studies/in_context_tables.md
	sed '/^| ---/q' docs/theory-table.md > table.part
	cat $(SUBJECTS:%=build/studies/%.md) >> table.part && mv table.part docs/theory-table.md
	cp build/studies/in_context_tables.md docs/in-context-tables.md

build/studies/in_context_tables.md: docs/studies/*.py $(VENV)/.test
	mkdir -p build/studies
	$(BIN)/python docs/studies/in_context_tables.py > $@.part && mv $@.part $@

build/studies/%.md: docs/studies/%.py docs/studies/statement.py docs/studies/statements.toml $(VENV)/.test
	mkdir -p build/studies
	OPENBLAS_NUM_THREADS=1 $(BIN)/python docs/studies/$*.py --table --jobs $$(getconf _NPROCESSORS_ONLN) > $@.part && mv $@.part $@

# Against values of lattice-estimator that are kept in tests/data.
estimator-table: $(VENV)/.test
	$(BIN)/python benchmarks/estimator.py > estimator.part && mv estimator.part docs/estimator-table.md
	cat docs/estimator-table.md

results: $(VENV)/.core
	$(BIN)/python benchmarks/results.py > results.part && mv results.part docs/results.md
	cat docs/results.md

evidence: $(VENV)/.core
	$(BIN)/python docs/examples/evidence.py > evidence.part && mv evidence.part docs/evidence.md
	cat docs/evidence.md

# About ten minutes. ALL=--all runs the sources that take over a minute each, too: an hour.
figures: $(VENV)/.test
	$(BIN)/python benchmarks/figures.py $(ALL)

# The notebooks once more, with their outputs: one minute.
notebooks: $(VENV)/.docs
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/notebooks.py

attack-tables: $(VENV)/.lattice
	$(BIN)/python benchmarks/attacks.py > attacks.part && mv attacks.part docs/attack-tables.md
	cat docs/attack-tables.md

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or later is needed, found " + sys.version.split()[0] + ": run make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "installing what pyproject.toml names into $(VENV): a minute, once"
	@if test -t 1; then $(LOUD) $(EDITABLE) .; else $(PIP) --editable .; fi
	@touch $@

$(VENV)/.test: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) $(EDITABLE) '.[test]'
	@touch $@ $(VENV)/.core

$(VENV)/.lattice: $(VENV)/.test
	$(PIP) $(EDITABLE) '.[test,lattice]'
	@touch $@

$(VENV)/.plugins: $(VENV)/.test
	$(PIP) $(EDITABLE) '.[test,sklearn,torch]'
	@touch $@

$(VENV)/.docs: $(VENV)/.test
	$(PIP) $(EDITABLE) '.[test,docs]'
	@touch $@

$(VENV)/.cluster: $(VENV)/.test
	$(PIP) $(EDITABLE) '.[test,cluster,parquet]'
	@touch $@

# 100,000 forged certificates, and what became of them.
forge: $(VENV)/.test
	$(BIN)/python benchmarks/forge.py

clean:
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
