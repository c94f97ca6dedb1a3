#!/bin/sh
# One step of CI: checks the packages, and runs the tests of those with changed files under the monitor.
# Variables say what to do:
#
#	CI_PACKAGES  packages to check (default ./...)
#	CI_SINCE     report only what touches a line that differs from this revision (default: everything)
#	CI_TEST      changed, all or none: whose tests to run (default changed; all without CI_SINCE)
#	CI_FLAGS     further flags of interlock test
#	CI_FORMAT    format of standard output (default text)
#	CI_REPORTS   a folder for check.sarif and test.sarif (default: none are written)
#
# It ends in the worse exit code of the two: 3 before 1 before 0.
set -u

packages=${CI_PACKAGES:-./...}
since=${CI_SINCE:-}
format=${CI_FORMAT:-text}

# report NAME prints the flag that writes the report of that name.
report() {
	if [ -n "${CI_REPORTS:-}" ]; then
		mkdir -p "$CI_REPORTS"
		echo "-o=sarif:$CI_REPORTS/$1.sarif"
	fi
}

# A checkout in CI has one commit: the revision to compare with has to be fetched.
if [ -n "$since" ] && ! git rev-parse --quiet --verify "$since^{commit}" >/dev/null; then
	git fetch --quiet --depth=1 origin "$since" || {
		echo "CI_SINCE is \"$since\", which is neither in this checkout nor on origin: name a branch, tag or commit" >&2
		exit 2
	}
fi

check=0
# Packages and flags are lists of words.
# shellcheck disable=SC2086
interlock check ${since:+-new-from-rev="$since"} -format="$format" $(report check) $packages || check=$?

# Which tests to run: those of packages that have a changed file and that go list knows.
tests=
case ${CI_TEST:-changed} in
none) ;;
all) tests=$packages ;;
changed)
	if [ -z "$since" ]; then
		tests=$packages
	else
		for dir in $(git diff --relative --name-only --diff-filter=d "$since" -- '*.go' | sed -e 's,[^/]*$,,' -e 's,^,./,' | sort -u); do
			if go list "$dir" >/dev/null 2>&1; then
				tests="$tests $dir"
			fi
		done
	fi
	;;
*)
	echo "CI_TEST is \"$CI_TEST\": want changed, all or none" >&2
	exit 2
	;;
esac

code=0
if [ -n "$tests" ]; then
	# shellcheck disable=SC2086
	interlock test ${since:+-new-from-rev="$since"} -format="$format" $(report test) ${CI_FLAGS:-} $tests || code=$?
fi
if [ "$check" -gt "$code" ]; then
	code=$check
fi
exit "$code"
