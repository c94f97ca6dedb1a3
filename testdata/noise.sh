#!/usr/bin/env bash
# Counts the findings of `interlock check ./...` with tests on well-kept
# modules, as a markdown table: lines without tests, findings, findings for
# 2,000 lines. Downloads the modules with the go command, works on copies.
#
# With a code it prints the findings of that code instead, to be read.
#
#	testdata/noise.sh path/to/interlock [CODE] [module@version …]
set -euo pipefail

interlock="$(cd "$(dirname "$1")" && pwd)/$(basename "$1")"
shift
code=""
if [[ "${1:-}" =~ ^IL[0-9]{4}$ ]]; then
	code="$1"
	shift
fi
if [ $# -eq 0 ]; then
	set -- \
		github.com/nats-io/nats-server/v2@v2.10.22 \
		go.etcd.io/bbolt@v1.3.7 \
		github.com/hashicorp/raft@v1.7.1 \
		github.com/dgraph-io/badger/v4@v4.5.0 \
		google.golang.org/grpc@v1.68.0 \
		github.com/gorilla/websocket@v1.5.3 \
		github.com/redis/go-redis/v9@v9.7.0 \
		go.etcd.io/raft/v3@v3.6.0 \
		go.uber.org/zap@v1.27.0 \
		github.com/spf13/cobra@v1.8.1 \
		github.com/hashicorp/memberlist@v0.5.1 \
		github.com/jackc/pgx/v5@v5.7.1 \
		github.com/go-chi/chi/v5@v5.1.0 \
		github.com/hashicorp/serf@v0.10.1 \
		github.com/nsqio/nsq@v1.3.0 \
		github.com/hashicorp/yamux@v0.1.2 \
		github.com/robfig/cron/v3@v3.0.1
fi

copies="$(mktemp -d)"
trap 'chmod -R u+w "$copies"; rm -rf "$copies"' EXIT

if [ -z "$code" ]; then
	echo "| module | lines | findings | for 2,000 lines |"
	echo "|---|---:|---:|---:|"
fi
for module; do
	# In a folder without go.mod, so that this module's go.mod stays as it is.
	dir="$(cd "$copies" && go mod download -json "$module" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')"
	copy="$copies/${module//\//_}"
	cp -r "$dir" "$copy"
	chmod -R u+w "$copy"
	lines="$(find "$copy" -name '*.go' ! -name '*_test.go' -exec cat {} + | wc -l)"
	status=0
	(cd "$copy" && "$interlock" check -format jsonl -o "text:$copies/text" ./...) >"$copies/findings" || status=$?
	if [ "$status" -gt 1 ]; then
		echo "noise: $module: interlock check ended with exit code $status" >&2
		exit 1
	fi
	if [ -n "$code" ]; then
		# A finding is a line with its code, and the lines behind it that are indented.
		echo "== $module"
		awk -v code="$code" '/^[^ ]/ { shown = index($0, ": " code " ") } shown' "$copies/text"
		rm -rf "$copy"
		continue
	fi
	findings="$(grep -vc '"end":true' "$copies/findings")" || true
	awk -v m="$module" -v l="$lines" -v f="$findings" 'BEGIN { printf "| %s | %d | %d | %.2f |\n", m, l, f, f * 2000 / l }'
	rm -rf "$copy"
done
