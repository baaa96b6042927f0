.PHONY: help build checked sanitize test threads wheel oldest newest networkx clients lint docs bench bench-large fuzz kills

help:  ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 13

build:  ## Compile in place and install for development, with every extra
	python -m pip install --editable ".[dev,bench]"

checked:  ## Run the test suite against a build with bounds checks
	.ci/checked

sanitize:  ## Run the test suite against a build with the compiler's sanitizers
	.ci/sanitize

test:  ## Run the test suite
	python -m pytest -n auto

threads:  ## Let readers look on for a minute or SECONDS while a graph changes, with each of three methods
	NX_FASTONL_SECONDS=$(or $(SECONDS),60) python -m pytest -q tests/labeling/test_threads_dynamic.py

wheel:  ## Build what users install, and test it elsewhere
	.ci/wheel

oldest:  ## Run the test suite with the oldest versions that are supported; PYTHON=... names a Python 3.11
	.ci/oldest $(PYTHON)

newest:  ## Run the test suite with the newest versions of everything; PYTHON=... names the Python
	.ci/newest $(PYTHON)

networkx:  ## Run the whole test suite of NetworkX through the backend
	cd "$$(mktemp -d)" && NETWORKX_TEST_BACKEND=fastonl NETWORKX_FALLBACK_TO_NX=True python -m pytest -q -p no:cacheprovider --pyargs networkx

clients:  ## Run the graph tests of programs that use NetworkX, plain and through the backend; CLIENTS=... names some
	python -m tests.clients $(CLIENTS)

lint:  ## Check style, spelling and types
	.ci/lint

docs:  ## Build the site into docs/_build/html, and check it
	.ci/docs

bench:  ## Compare with the peers on the graphs of ../shared/data; RECORD=--record writes docs/benchmarks
	python -m tests.benchmarks.bench_pagerank $(RECORD)
	python -m tests.benchmarks.bench_rows $(RECORD)
	python -m tests.benchmarks.bench_communities $(RECORD)
	python -m tests.benchmarks.bench_backend $(RECORD)
	python -m tests.benchmarks.bench_laplacian $(RECORD)
	python -m tests.benchmarks.bench_dynamic pagerank $(RECORD)
	python -m tests.benchmarks.bench_files $(RECORD)
	python -m tests.benchmarks.bench_online engine $(RECORD)
	python -m tests.benchmarks.bench_online growth $(RECORD)
	python -m tests.benchmarks.bench_online speed $(RECORD)
	python -m tests.benchmarks.bench_online accuracy $(RECORD)
	python -m tests.benchmarks.bench_online fit $(RECORD)
	python -m tests.benchmarks.bench_experiments adaptive $(RECORD)
	python -m tests.benchmarks.bench_experiments few-labels $(RECORD)
	python -m tests.benchmarks.bench_sklearn $(RECORD)
	python -m tests.benchmarks.bench_experiments directed $(RECORD)
	python -m tests.benchmarks.bench_experiments half-known $(RECORD)
	python -m tests.benchmarks.bench_dynamic temporal $(RECORD)
	python -m tests.benchmarks.bench_dynamic journal $(RECORD)

bench-large:  ## Build, save, open and label a graph of the size of Wikipedia; SCALE=0.02 takes less
	python -m tests.benchmarks.bench_large --scale $(or $(SCALE),1) $(RECORD)

fuzz:  ## Run random inputs against exact answers for MINUTES, 10 by default: see tests/fuzz
	python -m tests.fuzz --minutes $(or $(MINUTES),10) $(ENTRIES)

kills:  ## Kill KILLS processes, 200 by default, that write graphs and rows; go through POINTS faults, 1,000 by default; look for what is lost
	python -m tests.labeling.killed_writers "$$(mktemp -d)/graph" $(or $(KILLS),200)
	python -m tests.batch.killed_jobs "$$(mktemp -d)/rows" $(or $(KILLS),200)
	python -m tests.crash_points "$$(mktemp -d)" $(or $(POINTS),1000)
