#!/usr/bin/env bash
# Counts the findings of `interlock check ./...` with tests on well-kept
# modules, as a markdown table: lines without tests, findings, findings for
# 2,000 lines. Downloads the modules with the go command, works on copies.
#
#	testdata/noise.sh path/to/interlock [module@version …]
set -euo pipefail

interlock="$(cd "$(dirname "$1")" && pwd)/$(basename "$1")"
shift
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

echo "| module | lines | findings | for 2,000 lines |"
echo "|---|---:|---:|---:|"
for module; do
	# In a folder without go.mod, so that this module's go.mod stays as it is.
	dir="$(cd "$copies" && go mod download -json "$module" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')"
	copy="$copies/${module//\//_}"
	cp -r "$dir" "$copy"
	chmod -R u+w "$copy"
	lines="$(find "$copy" -name '*.go' ! -name '*_test.go' -exec cat {} + | wc -l)"
	code=0
	(cd "$copy" && "$interlock" check -format jsonl ./...) >"$copies/findings" || code=$?
	if [ "$code" -gt 1 ]; then
		echo "noise: $module: interlock check ended with exit code $code" >&2
		exit 1
	fi
	findings="$(wc -l <"$copies/findings")"
	awk -v m="$module" -v l="$lines" -v f="$findings" 'BEGIN { printf "| %s | %d | %d | %.2f |\n", m, l, f, f * 2000 / l }'
	rm -rf "$copy"
done
