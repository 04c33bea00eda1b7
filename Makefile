# Everything runs inside .venv, which the first target that needs it creates; `make help` lists the targets.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
BENCH_READY := .venv/.ready-bench

.DEFAULT_GOAL := help
.PHONY: help setup demo test check bench docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## create or refresh the environment in .venv

# The stamp is older than either file when the requirements changed: install again, else do nothing.
$(READY): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv || \
		{ echo "could not create .venv: Python 3.11 or newer with its venv module is needed" >&2; exit 1; }
	@echo "installing evenhand and its requirements into .venv (some minutes the first time)"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@# torchvision has no CPU build and would break imports beside a CPU torch: its Python part goes into a
	@# folder of its own, which tests/nets puts on the path; those tests skip where it is not there
	-@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade \
		--target .venv/vision -c constraints.txt torchvision
	@touch $@

$(BENCH_READY): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,bench]'
	@touch $@

demo: $(READY) ## train four methods on Adult (a minute), audit, compare; reports go to demo-reports/
	$(BIN)/evenhand demo --out demo-reports

check: $(READY) ## lint, formatting and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Several processes; a file's tests stay in one, so that what they share (a cluster, a browser) is made once.
test: check ## check, then every test and docstring example (not those marked slow or gpu)
	$(BIN)/pytest --numprocesses logical --maxprocesses 4 --dist loadfile

bench: $(BENCH_READY) ## measure speed and results side by side with other libraries
	$(BIN)/python benchmarks/run.py

docs: $(READY) ## write the references of metrics, methods, data sets, shifts and networks
	@set -e; for page in metrics.:metrics methods.:methods data.:datasets data.shift_:shifts nets.:nets; do \
		file=docs/$${page#*:}.md; \
		$(BIN)/python -m evenhand.$${page%:*}reference > $$file.new; \
		mv $$file.new $$file; \
		echo "wrote $$file"; \
	done

clean: ## remove caches, build output and demo reports (keeps .venv)
	rm -rf build dist demo-reports .hypothesis .mypy_cache .pytest_cache .ruff_cache .coverage htmlcov
	find src tests examples -name __pycache__ -type d -prune -exec rm -rf {} +
