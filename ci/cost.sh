#!/bin/sh
# Measures what CI costs on one released module: a row of the table in docs/ci.md.
#
#	ci/cost.sh MODULE VERSION FILE [PACKAGES]
#
# FILE, relative to the module, is edited for the commit that a pull request stands for; PACKAGES are those that the
# nightly audit runs (default ./...). interlock has to be on the PATH. Times are seconds of the clock, and of all
# processors together behind the slash; those of check alone begin without any cache but that of the compiler.
set -eu

module=$1 version=$2 file=$3 packages=${4:-./...}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

# The module in a repository of its own, and what it imports compiled, as a cache of CI systems keeps it.
cd "$work"
source=$(go mod download -json "$module@$version" | sed -n 's/^.*"Dir": "\(.*\)",*$/\1/p')
cp -R "$source" module
chmod -R u+w module
cd module
export GOWORK=off GOFLAGS=-mod=mod XDG_CACHE_HOME="$work/cache" GOCACHE="${GOCACHE:-$(go env GOCACHE)}"
go mod download
go test -count=1 -run '^$' ./... >/dev/null 2>&1 || true
git init -q .
git add -A -f
git -c user.name=x -c user.email=x@example.com commit -qm first

# took prints what a command needs, and the worst of its exit codes.
took() {
	code=0
	/usr/bin/env time -f '%e %U %S' -o "$work/time" "$@" >"$work/out" 2>&1 || code=$?
	[ "$code" -le 1 ] || { tail -n 3 "$work/out" >&2; }
	tail -n 1 "$work/time" | awk -v c="$code" '{ printf "%.1f / %.1f (%d)", $1, $2 + $3, c }'
}

plain=$(took go test -count=1 "$packages")
first=$(took interlock check "$packages")
again=$(took interlock check "$packages")
echo '// A line of a pull request.' >>"$file"
git -c user.name=x -c user.email=x@example.com commit -qam change
request=$(took env CI_SINCE=HEAD~1 sh "$here/step.sh")
nightly=$(took interlock audit -budget 3m -o "$work/audit" "$packages")
echo "| $module $version | $plain | $first | $again | $request | $nightly |"
