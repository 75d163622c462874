#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# compare_builds_test.sh BUILD FOLDER: scripts/compare-builds finds a build to be the same as itself, and one that
# describes another default not to be, by the default's name.
set -euo pipefail
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$1 folder=$2
command -v node >/dev/null || { echo "no Node here"; exit 77; }
fail() { echo "FAILED: $*"; exit 1; }

"$project/scripts/compare-builds" "$build" "$build" --only list,describe,plan,calls || fail "it differs from itself"

rm -rf "$folder"
mkdir -p "$folder/bin"
ln -s "$build/lib" "$build/share" "$folder/"
ln -s "$build/bin/assay-report" "$folder/bin/"
cat >"$folder/bin/assay" <<END
#!/bin/sh
"$build/bin/assay" "\$@" | sed 's/"defaults": \["plain","streaming"\]/"defaults": ["plain"]/'
END
chmod +x "$folder/bin/assay"
code=0
"$project/scripts/compare-builds" "$build" "$folder" --only describe >"$folder/said" || code=$?
[ $code -eq 1 ] || fail "exit code $code for another default: $(cat "$folder/said")"
grep -q 'memory.stream.*stores.*defaults' "$folder/said" || fail "it does not name the default: $(cat "$folder/said")"
rm -rf "$folder"
