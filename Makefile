# Two commands do everything on a fresh machine with Go, gcc and make: make demo, make test.
GO ?= go
BIN := bin/reprise
SHORT_FUZZ ?= 2000x
# Packages that must also build on a Mac without cgo (DuckDB needs cgo).
PORTABLE := ./ingest/... ./queries/... ./replay/...

.PHONY: build demo test lint fuzz bench bench-peers test-engine test-trino test-trino-all test-trino-cluster test-spark test-spark-all golden ci chromium race darwin versitygw manifests image

build:
	$(GO) build -trimpath -o $(BIN) ./cmd/reprise

demo: build
	$(BIN) demo -o out/demo

# The browser tests need Chromium, and npm for axe-core: installed with apt when we are root and they are missing, else the test says how.
chromium:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; } || \
	  echo "make: no Chromium found: install it (Debian: apt-get install chromium) or the browser tests fail" >&2
	@command -v npm >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && apt-get install -y -qq --no-install-recommends npm >/dev/null; } || \
	  echo "make: no npm found: install it (Debian: apt-get install npm) or the test of accessibility, which fetches axe-core, fails" >&2

# The S3 server that tests run against, outside of the checkout; the tests build it themselves when it is missing.
VERSITYGW := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/reprise-tools/versitygw-v1.8.0/versitygw
$(VERSITYGW):
	GOBIN=$(@D) $(GO) install github.com/versity/versitygw/cmd/versitygw@v1.8.0
versitygw: $(VERSITYGW)

test: chromium versitygw
	$(GO) test -timeout 20m ./...

# The catalogue over a run with everything odd, a report, and errors, on one Trino node beside DuckDB (.ci/trino fetches and starts it);
# -all: two more runs, every report, and every example that was worked out by hand.
test-trino:
	GO=$(GO) .ci/trino test 'TestTrinoEveryQuery/runs/odd|TestTrinoErrors|TestTrinoReports/report_weekly_demo'
test-trino-all:
	GO=$(GO) .ci/trino test TestTrino
# Two nodes over an S3 server: the catalogue beside DuckDB, over a run that ingest wrote into a bucket.
test-trino-cluster: $(VERSITYGW)
	GO=$(GO) VERSITYGW=$(VERSITYGW) .ci/trino cluster TestTwoNodes

# What reprise sql prints of the catalogue for Spark, pasted into one (.ci/spark fetches it), beside DuckDB; -all: two more runs.
test-spark:
	GO=$(GO) .ci/spark TestSparkEveryQuery/odd
test-spark-all:
	GO=$(GO) .ci/spark TestSpark

# The manifests against the schemas of Kubernetes, by a validator from PyPI in an environment of its own.
VALIDATOR := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/reprise-tools/kubernetes-validate-1.37.0
$(VALIDATOR)/ready:
	python3 -m venv $(@D) 2>/dev/null || { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-venv >/dev/null && python3 -m venv $(@D); }
	$(@D)/bin/pip install -q --disable-pip-version-check kubernetes-validate==1.37.0
	touch $@
manifests: $(VALIDATOR)/ready
	$(VALIDATOR)/bin/kubernetes-validate --strict deploy/*.yaml

image:
	docker build -t reprise .

race:
	$(GO) test -race ./ingest/... ./replay/...
	$(GO) test -race -run Sweeps ./analyze

lint: darwin
	@test -z "$$(gofmt -l . | tee /dev/stderr)"
	$(GO) vet ./...
	$(GO) vet -tags trino ./analyze ./cmd/reprise
	$(GO) vet -tags spark ./analyze
	$(GO) vet -tags engine ./cmd/reprise
	@if command -v golangci-lint >/dev/null; then golangci-lint run; fi

darwin:
	GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 $(GO) vet $(PORTABLE)

# Each fuzz target for a number of runs: given a time, Go now and then calls the end of it a failure ("context deadline exceeded"), and spends most of it
# on making inputs small. Packages with DuckDB are left to `make fuzz FUZZ_PKGS=./... SHORT_FUZZ=50000x`: a build for fuzzing compiles everything they
# import once more, for minutes.
FUZZ_PKGS ?= $(PORTABLE)
fuzz:
	@set -e; for pkg in $$($(GO) list $(FUZZ_PKGS)); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "fuzz $$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(SHORT_FUZZ) -fuzzminimizetime 10x $$pkg >/tmp/reprise-fuzz.$$$$ 2>&1 || { cat /tmp/reprise-fuzz.$$$$; exit 1; }; \
	  done; done; rm -f /tmp/reprise-fuzz.$$$$

bench:
	$(GO) test -run '^$$' -bench . -benchtime 3x ./...

# This client beside a plain one, AIPerf, GuideLLM and inference-perf, on a quiet Linux machine: 11 minutes and a Markdown table. The first time
# installs the three into $TMPDIR/reprise-bench (Python 3.12; 7 GB, minutes). Without them: go run ./replay/bench -peers=false
bench-peers:
	$(GO) run ./replay/bench

# A window of the shipped capture against a real engine: llama.cpp's server from PyPI in a throw-away environment (7 minutes, two processors).
test-engine:
	$(GO) test -tags engine -count 1 -timeout 30m -v -run RealEngine ./cmd/reprise

# Rewrites the golden files; read the difference before you commit it.
golden:
	UPDATE=1 $(GO) test ./...
	git diff --stat

ci: lint manifests race fuzz test test-trino
