#!/usr/bin/env bash
# Runs check, test and fix on testdata/bank with older go commands, which the
# present one downloads, and fails if one does not find, catch and mend the bug.
#
#	testdata/toolchains.sh path/to/interlock
set -euo pipefail

interlock="$(cd "$(dirname "$1")" && pwd)/$(basename "$1")"
bank="$(cd "$(dirname "$0")" && pwd)/bank"
copy="$(mktemp -d)"
trap 'rm -rf "$copy"' EXIT
cp "$bank"/* "$copy"
cd "$copy"

status=0
# has NAME PATTERN COMMAND… wants the pattern in what the command prints.
has() {
	local name=$1 pattern=$2
	shift 2
	"$@" >out.txt 2>&1 || true
	if ! grep -q -- "$pattern" out.txt || grep -q '^incomplete' out.txt; then
		echo "$GOTOOLCHAIN: $name did not go as it should:" >&2
		cat out.txt >&2
		status=1
	fi
}

for GOTOOLCHAIN in go1.21.13 go1.22.12 go1.23.12 go1.24.9 go1.25.4; do
	export GOTOOLCHAIN
	has check 'IL1001 suspected' "$interlock" check ./...
	has test 'IL1001 confirmed' "$interlock" test -runs 10 ./...
	has fix '^+	a.mu.Lock()' "$interlock" fix -runs 10 ./...
	echo "$(go version): done"
done
exit $status
