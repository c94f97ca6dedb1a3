# Interlock. `make` alone lists what there is to make.

GO ?= go
LAB = $(GO) run ./cmd/internal/lab
# Each tool of the lab keeps its figures beside itself; docs/measured.md has a row a bar.
FIGURES = cmd/internal/lab

.PHONY: help build gitea test quick unit vetted sample lint fmt house editors release demo toolchains noise cost bench conformance detect exam excuses fuzz silent hidden replays racesuite hbcost hbsuite saves sections strangers patches torture validator clean edits clients long

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## bin/interlock
	$(GO) build -o bin/ ./cmd/interlock

test: lint unit sample ## all that must pass before a commit: lint, every test, samples of conformance and torture

quick: vetted ## what breaks most often, in two minutes: gofmt, go vet, and the short tests without -race and without samples
	$(GO) test -short ./...

TIMEOUT = 20m
# The race detector needs cgo and a C compiler; without them the same tests
# run, only not under -race. A program under it sleeps for a second before it
# ends; a tenth is enough for goroutines that are still at work. Collecting garbage half as often takes a tenth off the
# processor time, for 4 % of memory. go vet is a part of lint. Fixtures of checks and of patches are analysed without the
# race detector, as these packages start no goroutine and load the standard library's source, for which the race
# detector needs several times as long. So are the rules of this repository, and the tools that measure, whose work is
# done by other processes. The packages that run the checks at the same time (resident, the language server, the driver)
# are under it, and all are in make long.
FIXTURES = /(analyzers/([a-z]*|pass/[a-z]*|internal/knowledge)|patchgen(/.*)?|pointsto|cmd/internal/(house|lab(/.*)?))$$
RACED = /analyzers/(inprocess|registry|resident)$$
unit: clients ## the tests alone, under -race where there is a C compiler
	@if [ "$$($(GO) env CGO_ENABLED)" = 1 ] && command -v "$$($(GO) env CC)" >/dev/null; then \
		race=-race; \
	else \
		echo "make: no C compiler, so the tests run without -race" >&2; \
	fi; \
	plain="$$($(GO) list ./... | grep -E '$(FIXTURES)' | grep -vE '$(RACED)')"; \
	[ -z "$$INTERLOCK_TEST_LONG" ] || plain=; \
	raced="$$($(GO) list ./... | grep -vxF "$$plain")"; \
	export GOGC=200 GORACE=atexit_sleep_ms=100; \
	echo "$(GO) test $$race -vet=off -timeout $(TIMEOUT), $$(echo "$$raced" | wc -w) packages"; \
	$(GO) test $$race -vet=off -timeout $(TIMEOUT) $$raced && \
	echo "$(GO) test -vet=off, $$(echo "$$plain" | wc -w) packages" && { [ -z "$$plain" ] || $(GO) test -vet=off $$plain; } && \
	{ [ -z "$$race" ] || $(GO) test -vet=off -run '^Test(Growth|Pairs|Excuses)$$' ./analyzers/registry; }

# Tests that ask for INTERLOCK_TEST_LONG have a smaller sample in make unit: fewer kills, runs and programs, no scripts of
# side paths, and not the programs of others that read Interlock's output.
long: ## the tests of make unit, with those whole that make unit samples: before a release
	INTERLOCK_TEST_LONG=1 $(MAKE) unit TIMEOUT=60m

# go test does not print that it skips a test.
clients:
	@command -v nvim >/dev/null || echo "make: no Neovim, so the language server is not tried with it" >&2
	@if ! command -v node >/dev/null || ! command -v npm >/dev/null; then \
		echo "make: no Node with npm, so the language server is not tried with VS Code's library" >&2; \
	elif ! [ -d editors/test/node_modules ] && ! (cd editors/test && npm install --silent); then \
		echo "make: npm cannot install VS Code's library, so the language server is not tried with it" >&2; \
	fi
	@[ -x bin/gitea/gitea ] || echo "make: no Gitea, so the bot is not tried with it: make gitea builds it" >&2

lint: build vetted ## gofmt, go vet, staticcheck, and interlock on its own code
	$(GO) tool staticcheck ./...
	bin/interlock check ./...

vetted:
	@unformatted="$$(gofmt -l $$(git ls-files -- '*.go' ':!*/testdata/*'))"; \
	if [ -n "$$unformatted" ]; then \
		echo "make: not formatted, run 'make fmt':" >&2; echo "$$unformatted" >&2; exit 1; \
	fi
	$(GO) vet ./...

fmt: ## format the Go files
	gofmt -w $$(git ls-files -- '*.go' ':!*/testdata/*')

house: ## print the size and the shape of the repository's own code, and every place that breaks a rule of size
	$(LAB) house -list

editors: clients ## try the language server with Neovim and Node, and pack the extension for VS Code; what is missing is said
	@if command -v npm >/dev/null; then \
		set -x; cd editors/vscode && npm install --silent && npm run --silent package; \
	fi
	$(GO) test -v ./editors

edits: ## type 10,000 random edits into the language server, with saves in between
	$(GO) test ./cmd/internal/lsp -run TestRandomEdits -edits 10000 -v -timeout 30m

release: ## make the archives of a release with goreleaser, in a temporary clone, and look into them
	$(GO) test ./ci -run TestSnapshot -snapshot -v -timeout 30m

demo: build ## find, prove and mend a race in a bundled module, in a temporary copy
	testdata/demo.sh bin/interlock

toolchains: ## find, prove and mend the same race with the go commands 1.21 to 1.27, by an interlock built with 1.26 and by one built with 1.27; what is missing is downloaded
	testdata/toolchains.sh

noise: build ## count the static findings on nats-server and sixteen further well-kept modules
	testdata/noise.sh bin/interlock

cost: build ## measure what the static checks cost on nats-server, beside two other tools, and on large modules
	$(LAB) cost -o $(FIGURES)/cost/figures.json

bench: ## measure what the monitor costs
	$(LAB) bench -o $(FIGURES)/bench/figures.json

sample: build ## every twelfth program of `make conformance`, and a few of `make torture`, no tables
	$(LAB) torture -norace -correct 24 -racy 8 -size 24 -runs 3 -least 0
	@if [ -d "$$($(GO) env GOROOT)/test" ]; then \
		set -x; $(LAB) conformance -every 12; \
	else \
		echo "make: this Go installation has no test folder, so no sample of conformance" >&2; \
	fi

conformance: ## compare the Go distribution's own test programs, plain and instrumented
	$(LAB) conformance -o $(FIGURES)/conformance/figures.json

excuses: ## which findings each excuse of the checks removes; MODULES='raft@|redcon@' measures on labelled modules too
	$(LAB) excuses -modules '$(MODULES)'

detect: ## measure how soon campaigns catch races, class by class, beside -race
	$(LAB) hidden -dir testdata/detect -schedules=-race,guided -runs 20 -clean 200 -o $(FIGURES)/hidden/detect.json

# go test -fuzz takes one target of one package.
FUZZTIME = 1m
# Before Go 1.27, the end of the time itself can be reported as a failure ("context deadline exceeded", golang/go#75804).
# So a target that fails like that, and not by an input, runs once more.
fuzz: ## fuzz every parser of foreign input for a minute each (FUZZTIME=5s for less); `make test` runs their seeds alone
	@grep -rl '^func Fuzz' --include='*_test.go' . | while read -r file; do \
		for name in $$(sed -n 's/^func \(Fuzz[A-Za-z]*\)(.*/\1/p' "$$file"); do \
			echo "$$name in $${file%/*}"; \
			fuzz="$(GO) test -run ^$$name\$$ -fuzz ^$$name\$$ -fuzztime $(FUZZTIME) -fuzzminimizetime 100x $${file%/*}"; \
			if out="$$($$fuzz 2>&1)"; then \
				echo "$$out" | tail -n 2; \
			elif echo "$$out" | grep -q 'context deadline exceeded' && ! echo "$$out" | grep -q 'Failing input'; then \
				echo "once more, after golang/go#75804"; $$fuzz || exit 1; \
			else \
				echo "$$out"; exit 1; \
			fi; \
		done; \
	done

silent: ## run every clean program of the monitor's and the rewriter's tests 200 times with wide windows: none may report anything
	$(GO) test ./dynamic/instrument -run TestCaught/ -silent 200 -v -timeout 1h
	INTERLOCK_TEST_RUNS=200 $(GO) test ./dynamic/rt -run 'TestNoRace|TestNoSplit' -v -timeout 2h

hidden: ## measure how soon campaigns find bugs that hide, beside -race
	$(LAB) hidden -o $(FIGURES)/hidden/figures.json

replays: ## measure whether replay commands show findings again
	$(LAB) replays -o $(FIGURES)/hidden/replays.json

racesuite: ## run the race detector's own suite under the monitor
	$(LAB) racesuite -o $(FIGURES)/racesuite/watch.json

hbcost: ## measure what the happens-before engine costs beside the race detector
	$(LAB) hbcost -o $(FIGURES)/hbcost/figures.json

hbsuite: ## run the race detector's own suite under the happens-before engine
	$(LAB) racesuite -engine=hb -runs 3 -o $(FIGURES)/racesuite/hb.json

sections: ## measure how soon campaigns show split atomic sections, beside -race
	$(LAB) hidden -dir testdata/sections -schedules=-race,guided -runs 20 -clean 200 -o $(FIGURES)/hidden/sections.json

saves: build ## measure how long an editor waits for diagnostics after a save
	$(LAB) saves -o $(FIGURES)/saves/figures.json

strangers: build ## try check, test and fix on more than forty released modules of others, and compare with the last run
	$(LAB) strangers

patches: build ## measure the patches of the bugs in LIST=bugs.json: drivers under -race, tests, 100 monitored runs, benchmarks
	$(LAB) patches $(LIST)

exam: build ## make patches for the drawn bugs: MIRROR=folder with bare copies of their repositories, OUT=folder for the patches
	$(LAB) exam -mirror $(MIRROR) -out $(OUT)

torture: build ## generate 3,000 correct programs and 1,000 racy twins, and try all of them (about an hour)
	$(LAB) torture -o $(FIGURES)/torture/figures.json

# TestMeasure takes a module and a patch of it, see its comment: make validator MEASURE='-measured … -patch … -claim …'
validator: ## count the wrong patches that are refused for the right reason, and with MEASURE what a candidate costs
	$(GO) test ./patchgen/internal/validate -run 'TestGolden|TestWrong|TestMeasure' -count=1 -v \
		$(if $(MEASURE),-args $(MEASURE)) | grep -E 'wrong patches|CPU-s|refused:|^(ok|FAIL|---)'

# The version whose module builds without anything but the Go module proxy.
GITEA = v1.26.4
gitea: bin/gitea/gitea ## build Gitea, with which the tests of the bot try it: once, about 400 s of one processor

bin/gitea/gitea:
	sh testdata/gitea.sh $(GITEA) bin/gitea

clean: ## remove what make built
	rm -rf bin
