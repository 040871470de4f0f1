# One task runner; CI runs the same commands. Everything goes into .venv.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
INSPECT_TESTS := tests/inspect tests/samples/test_inspect_dataset.py

.PHONY: help demo test parity inspect upstream fuzz faults bench audit check format docs clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.venv/.run: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

.venv/.dev: .venv/.run
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

demo: .venv/.run  ## install, build the demo datasets and show some samples (2 minutes)
	$(BIN)/registry sync --tag demo
	$(BIN)/registry preview demo-mcq-small -n 2
	$(BIN)/registry preview demo-chat -n 1

test: .venv/.dev  ## run the tests
	$(BIN)/python -m pytest --numprocesses 2

.venv-parity/.done: pyproject.toml Makefile
	$(PYTHON) -m venv .venv-parity
	.venv-parity/bin/python -m pip install --quiet --editable . inspect_evals==0.26.0 lm_eval==0.4.13 pytest
	touch $@

# `--confcutdir`: the conftest above imports servers that this environment doesn't have.
parity: .venv-parity/.done  ## compare the manifests with inspect_evals and lm_eval, in a separate environment
	.venv-parity/bin/python -m pytest tests/parity --confcutdir tests/parity

.venv-inspect-%/.done: pyproject.toml
	$(PYTHON) -m venv .venv-inspect-$*
	.venv-inspect-$*/bin/python -m pip install --quiet --editable '.[inspect]' pytest
	touch $@

# huggingface_hub and the oldest version want different versions of click; both work with the newer.
.venv-inspect-old/.oldest: .venv-inspect-old/.done
	.venv-inspect-old/bin/python -m pip install --quiet --no-deps inspect-ai==0.3.240
	touch $@

inspect: .venv-inspect-new/.done .venv-inspect-old/.oldest  ## run evaluations with the newest and the oldest Inspect AI
	for one in new old; do \
	  .venv-inspect-$$one/bin/python -m pytest $(INSPECT_TESTS) --confcutdir tests/inspect || exit 1; \
	done

# Theirs are not in the sdist: INSPECT names a checkout of inspect_ai at the commit of the shim.
upstream: .venv/.dev  ## run Inspect AI's dataset tests on our classes: make upstream INSPECT=FOLDER
	REGISTRY_INSPECT_CHECKOUT=$(or $(INSPECT),$(error INSPECT is not set)) \
		$(BIN)/python -m pytest --numprocesses 0 tests/upstream

# Without atheris, which has wheels for few platforms, inputs are changed without measuring coverage.
.venv/.fuzz: .venv/.dev
	$(BIN)/python -m pip install --quiet --only-binary :all: atheris || echo "atheris has no wheel for this machine"
	touch $@

fuzz: .venv/.fuzz  ## feed changed inputs to every reader of files for 5 minutes (other times: FUZZ="--seconds 60")
	$(BIN)/python -m tests.fuzz $(FUZZ)

faults: .venv/.dev  ## produce every fault of docs/reliability.md, at every point (30 minutes)
	REGISTRY_FAULTS=all $(BIN)/python -m pytest --numprocesses 2 tests/faults

bench: .venv/.dev  ## measure speed and memory, compared with Inspect AI (some cases: BENCH="--only warm")
	$(BIN)/python -m benchmarks --work build/bench --json build/bench/figures.json $(BENCH)

audit: .venv/.dev  ## check the installed packages for known vulnerabilities, where that service can be reached
	$(BIN)/python -I .ci/audit.py

check: .venv/.dev  ## check format, lint, types and packages, run the tests: what CI runs
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/bandit --quiet --configfile pyproject.toml --recursive src
	$(BIN)/mypy
	$(MAKE) audit
	$(MAKE) test

format: .venv/.dev  ## format the code, and fix what ruff can
	$(BIN)/ruff format src tests benchmarks
	$(BIN)/ruff check --fix src tests benchmarks

docs: .venv/.run  ## generate the pages on operations, rules, the command line and evidence
	$(BIN)/python -m registry.docgen
	$(BIN)/python -m tests.evidence.page

clean:  ## remove the environments, caches and build results
	rm -rf .venv .venv-parity .venv-inspect-new .venv-inspect-old .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
