#!/usr/bin/env bash
# Shows Interlock at work on testdata/bank: check, test, fix, apply, test
# again. Works on a temporary copy, and fails if a step does not end as shown.
#
#	testdata/demo.sh path/to/interlock
set -euo pipefail

interlock="$(cd "$(dirname "$1")" && pwd)/$(basename "$1")"
bank="$(cd "$(dirname "$0")" && pwd)/bank"
copy="$(mktemp -d)"
trap 'rm -rf "$copy"' EXIT
PATH="$(dirname "$interlock"):$PATH"
cp "$bank"/* "$copy"
cd "$copy"

# expect CODE COMMAND… shows a command, runs it, and wants that exit code.
expect() {
	local want=$1 got=0
	shift
	printf '\n$ %s\n' "$*"
	bash -c "$*" || got=$?
	printf '(exit code %d)\n' "$got"
	if [ "$got" -ne "$want" ]; then
		echo "demo: that should have been exit code $want" >&2
		exit 1
	fi
}

expect 1 interlock check ./...
expect 1 interlock test -runs 10 ./...
expect 1 'interlock fix -runs 10 ./... >fix.diff'
expect 0 cat fix.diff
expect 0 git apply fix.diff
expect 0 interlock check ./...
expect 0 interlock test -runs 10 ./...
