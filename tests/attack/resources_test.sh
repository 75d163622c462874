#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# resources_test.sh WORK ASSAY REPORT SAMPLE: limits of a shell and empty input end with a message and leave nothing half written.
set -uo pipefail
# shellcheck source=../recipes/expect.sh disable=SC2034,SC2154
. "$(dirname "${BASH_SOURCE[0]}")/../recipes/expect.sh" "$1"
assay=$2 report=$3 sample=$4

limited() { # limit, its value, command...
    said=$(ulimit "$1" "$2" && shift 2 && timeout 60 "$@" 2>&1)
    code=$?
}
for program in "$assay" "$report"; do
    limited -s 64 "$program" --version
    expect 4 'stack limit is below 1 MiB: ulimit -s 8192'
done
limited -f 2 "$report" export --to csv "$sample" --out table.csv
expect 4 'File too large'
[ -z "$(ls -A | grep -v '^bin$')" ] || fail "left behind: $(ls -A)"
limited -f 8 "$assay" run latency.timer --budget 0.1s --replicas 1 --out limited
expect 4 'File too large'
[ -z "$(find limited -name run.json)" ] || fail "a result in spite of the limit"

: >empty
yes '' | head -n 1000000 >blank
said=$("$assay" run latency.timer --expect empty --out none 2>&1)
code=$?
expect 2 'no expectations'
for list in empty blank; do
    said=$(timeout 60 "$report" fleet "$sample" --expect "$list" 2>&1)
    code=$?
    expect 2 'no nodes listed'
    said=$(timeout 60 "$report" check "$sample" --limits "$PWD/$list" 2>&1)
    code=$?
    expect 2 'unexpected end of input'
done
mkdir -p killed/run && cp blank killed/run/journal.ndjson
said=$(timeout 60 "$report" report killed/run 2>&1)
code=$?
[ "$code" != 124 ] || fail "a million blank lines take more than a minute"
echo ok
