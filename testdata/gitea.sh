#!/bin/sh
# Builds Gitea, with which the tests of the bot try it: gitea.sh VERSION FOLDER puts the binary and what it reads into the
# folder. The source is the module's zip, so that nothing but the Go module proxy is needed; a C compiler is.
set -eu

version=$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
dir=$(go mod download -json "code.gitea.io/gitea@$version" | sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p')
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

# The go command builds a main module only where it may write beside go.mod.
cp -R "$dir/." "$work"
chmod -R u+w "$work"
cd "$work"
GOWORK=off GOFLAGS= go build -tags 'sqlite sqlite_unlock_notify' -ldflags "-X main.Version=${version#v}" -o "$out/gitea.new" .
cp -R options templates public "$out"
mv "$out/gitea.new" "$out/gitea"
