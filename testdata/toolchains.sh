#!/usr/bin/env bash
# Runs check, test and fix on testdata/bank with the go commands 1.21 to 1.27,
# by interlocks that 1.26 and 1.27 have built, and fails if one does not find,
# catch and mend the bug. An interlock that is older than the go command has to
# build itself again, once, and another one must not. Toolchains that are
# missing are downloaded; TOOLCHAINS="go1.21.13 …" names others as the users'.
set -euo pipefail

source="$(cd "$(dirname "$0")/.." && pwd)"
copy="$(mktemp -d)"
trap 'rm -rf "$copy"' EXIT
export XDG_CACHE_HOME="$copy/cache" # where nothing was built again yet
GOCACHE="$(go env GOCACHE)"
export GOCACHE
mkdir "$copy/bank"
cp "$source"/testdata/bank/* "$copy/bank"
cd "$copy/bank"

status=0
fail() {
	echo "$builder, $GOTOOLCHAIN: $1" >&2
	cat ../out.txt >&2
	status=1
}

# has NAME PATTERN COMMAND… wants the pattern in what the command prints.
has() {
	local name=$1 pattern=$2
	shift 2
	"$@" >../out.txt 2>&1 || true
	if ! grep -q -- "$pattern" ../out.txt || grep -q '^incomplete' ../out.txt; then
		fail "$name did not go as it should:"
	fi
}

minor() { # of goX.Y.Z
	local v=${1#go1.}
	echo "${v%%.*}"
}

for builder in go1.26.8 go1.27.3; do
	interlock="$copy/$builder"
	GOTOOLCHAIN=$builder go build -C "$source" -o "$interlock" ./cmd/interlock
	for GOTOOLCHAIN in ${TOOLCHAINS:-go1.21.13 go1.22.12 go1.23.12 go1.24.11 go1.25.5 go1.26.8 go1.27.3}; do
		export GOTOOLCHAIN
		has check 'IL1001 suspected' "$interlock" check ./...
		again=$(grep -c 'building it again' ../out.txt || true)
		if [ "$again" != $(($(minor "$GOTOOLCHAIN") > $(minor "$builder"))) ]; then
			fail "built again $again times:"
		fi
		has test 'IL1001 confirmed' "$interlock" test -runs 10 ./...
		has fix '^+	a.mu.Lock()' "$interlock" fix -runs 10 ./...
		if grep -q 'building it again' ../out.txt; then
			fail "built again once more:"
		fi
		echo "interlock of $builder, $(go version): done"
	done
	unset GOTOOLCHAIN
done
exit $status
