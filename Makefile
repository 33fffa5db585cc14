# Needs nothing but make and Python 3.11 or newer. `make help` lists what can be asked for.

# The first Python that is new enough, unless one is named: make PYTHON=python3.13 test
ifeq ($(origin PYTHON),undefined)
PYTHON := $(shell for python in python3 python3.13 python3.12 python3.11; do \
	if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then echo $$python; exit; fi; done; \
	echo python3)
NAMED :=
else
NAMED := yes
endif
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check --no-input

# Both packages of this repository: they are installed by path, beside what the locks name.
OURS := pyproject.toml clients/python/pyproject.toml

UV := uv==0.13.8
COMPILE := .venv-lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-emit-package gainsay-client --no-header

# pytest rewrites every test file, and what tests start imports the package: kept, that is done once.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup docs demo demo-evaluation quick test whole everything lint style types nearby replay waits repeat examples bench bench-compare scale flame missing changes faults soak drills batches schemathesis mutations evaluation-recovery hostile image image-check rehearse failovers replayed clients dashboards dashboards-preview vendor audit sbom release-cut release release-rehearsal lock chart test-cluster test-pods clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

setup: ## make .venv and install what requirements-dev.txt locks, when that has changed
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Gainsay needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1 | head -1)." >&2; \
		echo "Name another one: make PYTHON=python3.13 $(or $(MAKECMDGOALS),setup)" >&2; exit 1; }
	@if ! $(BIN)/python -m pip --version >/dev/null 2>&1; then \
		echo "Making $(VENV) with $$($(PYTHON) --version)"; \
		rm -rf $(VENV); $(PYTHON) -m venv $(VENV) || { \
			echo "$(PYTHON) cannot make virtual environments; on Debian and Ubuntu install python3-venv." >&2; \
			rm -rf $(VENV); exit 1; }; \
	elif [ -n "$(NAMED)" ] && [ "$$($(BIN)/python --version)" != "$$($(PYTHON) --version)" ]; then \
		echo "$(VENV) has $$($(BIN)/python --version), but PYTHON=$(PYTHON) is $$($(PYTHON) --version):" >&2; \
		echo "run make clean first, or keep both: make VENV=.venv-other PYTHON=$(PYTHON) $(MAKECMDGOALS)" >&2; exit 1; \
	fi
	@cmp -s requirements-dev.txt $(VENV)/requirements.installed || { \
		echo "Installing the locked requirements into $(VENV) (half a minute)"; \
		$(PIP) install --require-hashes -r requirements-dev.txt && \
		cp requirements-dev.txt $(VENV)/requirements.installed; }
	@cat $(OURS) | cmp -s - $(VENV)/pyproject.installed || { \
		$(PIP) install --no-deps --no-build-isolation --editable clients/python --editable . && \
		cat $(OURS) > $(VENV)/pyproject.installed; }

demo: setup ## run the whole service once, on an embedded PostgreSQL, without a network
	@$(BIN)/gainsay demo

# What each finding is held against stands in examples/evaluation/policy.toml. It fails where a truth was not found.
demo-evaluation: setup ## measure simulated models with known faults over the shipped sets, with reports (five minutes)
	@$(BIN)/python -m tests.demo_evaluation

# Two things at a time, or as many as `make --jobs` was told: a good part of a run is waiting. A make that can do so keeps
# their lines apart.
BOTH = --no-print-directory $(if $(findstring --jobserver,$(MAKEFLAGS)),,--jobs=2) \
	$(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

quick: setup style ## linters, types and the tests of what changed, within a minute; SINCE (HEAD) is what to compare with
	@$(MAKE) $(BOTH) types nearby

# What is not chosen, or not begun in time, is named: `make test` runs it.
nearby:
	@files=$$($(BIN)/python tests/loops/changed.py $(or $(SINCE),HEAD)) && \
		PYTHONHASHSEED=0 $(BIN)/pytest --quiet --no-header --numprocesses=2 --dist=loadfile --no-loadscope-reorder \
		--stop-after=$(or $(SECONDS),40) --durations=5 --durations-min=1 $$files

# docs/testing.md says what was cut and why nothing is lost by it. Types and replay run while the first tests wait, and
# say what they found once they end. Of the tests that wait, replay draws one in six; of cases that take long, a fifth
# runs, and of the longest files a quarter.
test: setup style ## linters, types, import contracts and the tests; prints where the time went, and what draw it was
	@SHOWN=3 $(MAKE) $(BOTH) everything types replay DRAW=$(or $(DRAW),6) CASES=$(or $(CASES),5) LONG=$(or $(LONG),4) 3>&1

whole: ## as test, with every case of every file (half an hour)
	@$(MAKE) --no-print-directory test DRAW=1 CASES=1 LONG=1

# Through a descriptor of its own, because make keeps the lines of its targets until they end. In a fresh clone one
# process rewrites the test files for all workers.
everything: setup
	@[ -d tests/unit/__pycache__ ] || $(BIN)/pytest --quiet --no-header --only-import >/dev/null || true
	@{ echo "All tests"; PYTHONHASHSEED=0 $(BIN)/pytest --numprocesses=$(or $(WORKERS),4) --dist=loadfile \
		--no-loadscope-reorder --longest-first --cases=$(or $(CASES),1) --long=$(or $(LONG),1) \
		--time-by-file=25 --durations=25 --durations-min=1; } >&$${SHOWN:-1}

# Replay must not hang on the order of sets, so what replays runs under another hash seed as well, with 12 examples of
# each property; make replay PROFILE=thorough tries 2000. Only the files that have such tests are collected. DRAW=3 runs
# one in three of those that wait, drawn from GAINSAY_TEST_DRAW_SEED or the commit.
replay: setup ## every test that replays, under a second hash seed
	@echo "Tests that replay, under a second hash seed"
	@PYTHONHASHSEED=1 $(BIN)/pytest --quiet --no-header -m replay --hypothesis-profile=$(or $(PROFILE),replay) --draw=$(or $(DRAW),1) \
		$$(grep -rl --include='test_*.py' 'mark[.]replay' tests)

waits: setup ## every test that starts processes or waits, alone and TIMES (10) times (some hours)
	@$(MAKE) --no-print-directory repeat TEST="-m waits tests"

# Alone and beside two busy loops: make repeat TEST=tests/faults/test_postgres.py BUSY=2
repeat: setup ## run TEST (a file, a test, any words of pytest) TIMES (10) times, beside BUSY (0) busy loops
	@[ -n "$(TEST)" ] || { echo "Say which test: make repeat TEST=tests/store/test_pool.py TIMES=10" >&2; exit 2; }
	@busy=; failed=; trap 'kill $$busy 2>/dev/null' EXIT; trap 'exit 130' INT TERM; \
	for n in $$(seq $(or $(BUSY),0)); do (while :; do :; done) & busy="$$busy $$!"; done; \
	for n in $$(seq $(or $(TIMES),10)); do \
		echo "Run $$n of $(or $(TIMES),10)"; \
		$(BIN)/pytest --quiet --no-header --durations=5 --durations-min=1 $(TEST) || failed="$$failed $$n"; \
	done; \
	[ -z "$$failed" ] || { echo "Failed in run:$$failed" >&2; exit 1; }

# `make test` tries 25 examples of each property, the same on every run; this one looks for new ones.
examples: setup ## try 2000 examples (EXAMPLES) of each property of TEST (tests/unit and more); SEED repeats a run (hours)
	@seed=$(or $(SEED),$$(date +%s)); echo "Properties, with SEED=$$seed"; \
	GAINSAY_TEST_EXAMPLES=$(or $(EXAMPLES),2000) $(BIN)/pytest --quiet --no-header --numprocesses=2 --timeout=3600 \
		--hypothesis-profile=thorough --hypothesis-seed=$$seed $(or $(TEST),tests/unit tests/store/verify)

lint: style types ## ruff, formatting, mypy --strict, import contracts

style: setup # takes a second, so it is told before anything that takes long begins
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --check --quiet || { $(BIN)/ruff format --check; exit 1; }

types: setup
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

# docs/performance.md says what is measured and how to set up the peers: make bench ONLY="http crowd" PEERS=build/peers
bench: setup ## measure each part, or ONLY="http gate", TURNS times; DOCS=1 writes docs/performance.md (25 minutes)
	@BENCH_PEERS=$(PEERS) $(BIN)/python bench/run.py $(ONLY) $(if $(TURNS),--turns $(TURNS)) $(if $(JSON),--json $(JSON)) \
		$(if $(DOCS),--docs)

# Against a commit, a branch or a tag: make bench-compare REF=main PAIRS=8
bench-compare: setup ## measure REF (main) and these files in turns, PAIRS (8) times, and say whether they differ
	@$(BIN)/python bench/compare.py $(or $(REF),main) $(if $(PAIRS),--pairs $(PAIRS)) $(if $(DEBATES),--debates $(DEBATES))

# docs/scale.md says what is measured, and how what so many debates need follows from it.
scale: setup ## measure what a debate costs and what saturates first, and write docs/scale.md (five minutes)
	@$(BIN)/python bench/scale.py $(if $(DEBATES),--debates $(DEBATES))

flame: setup ## sample a worker by its CPU, and write docs/worker-cpu.svg, a flame graph (a minute)
	@$(BIN)/python bench/flame.py

missing: setup ## name every place that a half-made format, field, metric, wire or rule (KIND) lacks
	@$(BIN)/python -m tests.change.check $(KIND)

# `make test` applies one of the two trees and leaves out one step, drawn from GAINSAY_TEST_CHANGES_SEED or the commit.
changes: setup ## apply the toy changes of the how-tos half, whole, and less each step (half an hour)
	@PYTHONHASHSEED=0 GAINSAY_TEST_CHANGES=all $(BIN)/pytest --quiet --no-header tests/change

# `make test` tries some of these points, drawn from GAINSAY_TEST_FAULTS_SEED.
faults: setup ## fail every statement, call and append of a debate of every format, one at a time (about an hour)
	@PYTHONHASHSEED=0 GAINSAY_TEST_FAULTS=all $(BIN)/pytest --quiet --no-header tests/faults/test_statements.py \
		tests/faults/test_calls.py tests/faults/test_kills.py tests/faults/test_sequencing.py tests/faults/test_money.py

# The same seed hits the same processes in the same order: make soak SECONDS=600 SEED=7
soak: setup ## kill, pause and cut off processes and PostgreSQL for SECONDS (300) while all work; SEED repeats a run
	@GAINSAY_TEST_SOAK_S=$(or $(SECONDS),300) $(if $(SEED),GAINSAY_TEST_SOAK_SEED=$(SEED)) \
		$(BIN)/pytest --quiet --no-header --capture=no tests/faults/test_soak.py

# `make test` runs the restores, by the commands of docs/disaster.md: make drills SEED=7
drills: setup ## fail over twice under load, and restore backups three ways (five minutes); SEED repeats a run
	@GAINSAY_TEST_DRILLS=all $(if $(SEED),GAINSAY_TEST_DRILLS_SEED=$(SEED)) \
		$(BIN)/pytest --quiet --no-header --capture=no tests/drills

# The file of a batch, of CASES cases, whose processes are killed five times: make batches CASES=10000 SEED=7
batches: setup ## run a batch of CASES (10000) cases, kill its processes five times, and reckon debates, bills and ceiling
	@GAINSAY_TEST_BATCH_CASES=$(or $(CASES),10000) $(if $(SEED),GAINSAY_TEST_BATCH_SEED=$(SEED)) \
		$(BIN)/pytest --quiet --no-header --capture=no tests/faults/test_batch_kills.py

# `make test` asks a few hundred requests; this one covers every member of a case too, on a service that runs debates.
schemathesis: setup ## ask the service EXAMPLES (100) drawn requests for each operation, as ROLE (none); SEED repeats a run
	@GAINSAY_TEST_SCHEMATHESIS_EXAMPLES=$(or $(EXAMPLES),100) $(if $(SEED),GAINSAY_TEST_SCHEMATHESIS_SEED=$(SEED)) \
		$(if $(ROLE),GAINSAY_TEST_SCHEMATHESIS_ROLE=$(ROLE)) \
		$(BIN)/pytest --quiet --no-header --capture=no tests/end_to_end/test_schemathesis.py

# `make test` draws 200 without a key and 40 with the log's, from GAINSAY_TEST_MUTATIONS_SEED: make mutations SEED=7
mutations: setup ## edit the recorded bundles: EDITS (3000) without a key, SEALED (500) with the log's; SEED repeats a run
	@$(BIN)/python -m tests.mutations --edits $(or $(EDITS),3000) --sealed $(or $(SEALED),500) $(if $(SEED),--seed $(SEED))

# `make test` runs 30 seeds of each setting, and kills a small run. docs/evaluation.md has the tables, which DOCS=1 writes: make
# evaluation-recovery DOCS=1. KILLS=0 leaves out the run of 300 debates that is killed 50 times; SEED chooses the places.
evaluation-recovery: setup ## simulate known truths, SEEDS (1000) each and RUNS (5) whole, and kill 300 debates (20 minutes)
	@$(BIN)/python -m tests.recovery --seeds $(or $(SEEDS),1000) --runs $(or $(RUNS),5) \
		$(if $(ONLY),--only $(ONLY)) $(if $(DOCS),--docs)
	@[ "$(or $(KILLS),$(if $(ONLY),0,50))" = 0 ] || GAINSAY_TEST_RECOVERY=all $(if $(SEED),GAINSAY_TEST_RECOVERY_SEED=$(SEED)) \
		$(BIN)/pytest --quiet --no-header --capture=no tests/recovery/test_killed.py

hostile: setup ## verify hostile files, and print how long and how much memory each took (a minute)
	@$(BIN)/python -m tests.mutations.hostile

# A base without a tag and a digest is refused, with the command that looks it up: docs/image.md. Needs Docker.
image: setup ## build the image with Docker, from PYTHON_IMAGE=NAME:TAG@sha256:...
	@$(BIN)/python -m supply.base "$(PYTHON_IMAGE)"
	docker buildx build --pull --build-arg PYTHON_IMAGE="$(PYTHON_IMAGE)" \
		--build-arg VERSION="$$($(BIN)/python -c 'import service; print(service.__version__)')" \
		--build-arg REVISION="$$(git rev-parse HEAD)" --build-arg SOURCE_DATE_EPOCH="$$(git log -1 --format=%ct)" \
		--output type=docker,rewrite-timestamp=true --tag $(or $(TAG),gainsay) .

# Root builds it with buildah on a base by debootstrap, where Debian has both, and replays it without; then runs what came.
image-check: setup ## build the Dockerfile twice without Docker, replay it, and run what came as any user (six minutes)
	@GAINSAY_TEST_IMAGE=1 $(BIN)/pytest --quiet --no-header tests/image

# As `make drills`, `make image-check` and `make test-pods`, without what takes long to build. Two at a time: both wait much.
rehearse: setup ## what .ci/run asks beside the tests: failovers, the image replayed, the pods of the chart (three minutes)
	@$(MAKE) $(BOTH) failovers replayed

failovers: setup
	@echo "Failovers"; GAINSAY_TEST_DRILLS=all $(BIN)/pytest --quiet --no-header tests/drills/test_failover.py

replayed: setup
	@echo "Image and pods"; GAINSAY_TEST_IMAGE=replayed GAINSAY_TEST_PODS=1 \
		$(BIN)/pytest --quiet --no-header tests/image tests/chart/pods

# After a change to what is asked or answered. The types of TypeScript need node 20 and npm.
clients: setup ## write the types of both clients anew from the OpenAPI document
	@$(BIN)/python -m clients.generate

dashboards: setup ## write dashboards/grafana/*.json from dashboards/boards
	@$(BIN)/python -m dashboards.boards

# Helm reads no file outside of a chart, so it has copies.
chart: setup ## write helm/gainsay/README.md and the chart's copies of dashboards and rules anew
	@$(BIN)/python -m helm

# The first run builds an API server (ten minutes) and keeps it in ~/.cache/gainsay-tests; it needs Go and its proxy.
test-cluster: setup ## install the chart into a real API server of Kubernetes, upgrade and roll back (a minute, once built)
	@GAINSAY_TEST_CLUSTER=1 $(BIN)/pytest --quiet --no-header tests/chart/cluster

test-pods: setup ## start every process as the chart's pods would, and probe a case to its proof (half a minute)
	@GAINSAY_TEST_PODS=1 $(BIN)/pytest --quiet --no-header tests/chart/pods

# What docs/dashboards.md shows: PostgreSQL, all processes and a Prometheus run for a minute. Look at the pictures after it.
dashboards-preview: dashboards ## draw each dashboard from its own queries over the scripted load into docs/dashboards (two minutes)
	@GAINSAY_TEST_DASHBOARDS=draw $(BIN)/pytest --quiet --no-header tests/dashboards/test_load.py

# Every warning ends the build: a page in no navigation, a link or an anchor that leads nowhere, anything from outside.
# The same files give the same bytes.
docs: setup ## make the site of the docs in build/site, which needs no network (a minute); open build/site/index.html
	@rm -rf build/site && PYTHONHASHSEED=0 $(BIN)/sphinx-build --quiet --fail-on-warning -b html -d build/site-read \
		-c docs/site . build/site
	@echo "wrote build/site/index.html"

vendor: setup ## take another VERSION of Swagger UI from npm into the package, with its hashes
	@[ -n "$(VERSION)" ] || { echo "Say which version: make vendor VERSION=5.35.0" >&2; exit 2; }
	@$(BIN)/python -m tests.vendoring.swagger_ui $(VERSION)

# The licences need no network and are a test as well; known holes do.
audit: setup ## compare the licences of what is locked with the allow list, and ask for known holes
	@$(BIN)/python -m supply.licences
	@$(BIN)/python -m supply.holes

sbom: setup ## write build/sbom.cdx.json: what requirements.txt locks, with hashes and licences (CycloneDX 1.6)
	@$(BIN)/python -m supply.sbom --out build/sbom.cdx.json --version "$$($(BIN)/python -c 'import service; print(service.__version__)')"
	@echo "wrote build/sbom.cdx.json"

# docs/releasing.md has the steps, and what is refused. Nothing is published, tagged or pushed.
release-cut: setup ## make this tree VERSION: version, changelog, list of what is frozen; the commit is yours
	@[ -n "$(VERSION)" ] || { echo "Say which version: make release-cut VERSION=1.0.0" >&2; exit 2; }
	@$(BIN)/python -m supply.release cut $(VERSION)

# What holds the code to what releases have; after it the parts are built from the files of the commit.
HELD := tests/unit/release tests/unit/test_goldens.py tests/unit/test_goldens_texts.py tests/unit/debate/test_recorded.py \
	tests/unit/prompts tests/unit/audit/test_payloads.py tests/unit/audit/test_schemas.py tests/unit/verify

release: setup ## build and sign dist/VERSION: PYTHON_IMAGE=NAME:TAG@sha256:... KEY=FILE; refuses what is not ready
	@[ -n "$(PYTHON_IMAGE)" ] && [ -n "$(KEY)" ] || { \
		echo "Say base and key: make release PYTHON_IMAGE=python:3.13-slim-trixie@sha256:... KEY=release.key" >&2; exit 2; }
	@$(BIN)/python -m supply.release check --base $(PYTHON_IMAGE) --key $(KEY)
	@PYTHONHASHSEED=0 $(BIN)/pytest --quiet --no-header --numprocesses=2 --dist=loadfile $(HELD)
	@$(BIN)/python -m supply.release build --base $(PYTHON_IMAGE) --key $(KEY)

# In copies of this tree. `make test` runs the parts alone.
release-rehearsal: setup ## cut, build and run a toy 1.0.0, then successors of it; refuse what changes it (four minutes)
	@PYTHONHASHSEED=0 GAINSAY_TEST_RELEASE=all $(BIN)/pytest --quiet --no-header --durations=10 tests/release

lock: ## write requirements*.txt from pyproject.toml anew; UPGRADE=--upgrade takes newer versions
	@$(PYTHON) -m venv .venv-lock && .venv-lock/bin/python -m pip install --quiet --disable-pip-version-check $(UV)
	@$(COMPILE) $(UPGRADE) --output-file requirements.txt pyproject.toml
	@$(COMPILE) $(UPGRADE) --output-file requirements-dev.txt --constraint requirements.txt --group dev pyproject.toml
	@$(COMPILE) --output-file requirements-build.txt --constraint requirements-dev.txt --group build
	@rm -rf .venv-lock

clean: ## remove .venv and every cache, but no data
	@rm -rf $(VENV) .venv-lock build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
