# SPDX-License-Identifier: Apache-2.0
# . expect.sh WORK: for tests of scripts; begins in an empty folder WORK, whose bin/ comes first on PATH.
# shellcheck shell=bash disable=SC2034,SC2154
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$1
rm -rf "$work"
mkdir -p "$work/bin"
cd "$work" || exit 1
work=$PWD
PATH=$work/bin:$PATH

fail() {
    echo "FAILED in line ${BASH_LINENO[*]}: $*" >&2
    exit 1
}
fake() { # name, what it does; it is started in $work
    printf '#!/bin/bash\ncd %q\n%s\n' "$work" "$2" >"bin/$1"
    chmod +x "bin/$1"
}
expect() { # exit code, words as an extended regular expression: of what $code and $said hold
    [ "$code" = "$1" ] || fail "exit code $code, not $1: $said"
    grep -qE -- "$2" <<<"$said" || fail "\"$2\" is not in: $said"
}
nobody_calls() { ! grep -q "^$1" calls || fail "$1 was called: $(cat calls)"; }
