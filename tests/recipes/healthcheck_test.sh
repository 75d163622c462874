#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# healthcheck_test.sh WORK: what scripts/slurm/healthcheck decides, with assay, sinfo and scontrol replaced.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/expect.sh" "$1"
check=$project/scripts/slurm/healthcheck

# shellcheck disable=SC2016 # they expand it
fake assay '[ "$1" = run ] && { echo "$*" >>calls; exit "$(cat run_code 2>/dev/null || echo 0)"; }
cat verdict; exit "$(cat check_code)"'
fake sinfo 'cat node'
fake scontrol 'echo "scontrol $*" >>calls'
healthcheck() { # options...: what it says in `said`, its exit code in `code`
    : >calls
    said=$("$check" --state "$work/state" --node n1 "$@" 2>&1)
    code=$?
}
is() { # state and reason in Slurm, exit code and line of `assay check`
    echo "$1" >node
    echo "$2" >check_code
    echo "$3" >verdict
}
bad='[node_problem] below_limit: DGEMM: 3 of 4 TFLOP/s'

is 'idle|none' 0 'PASS: 3 of 3 required checks ran'
healthcheck
expect 0 'n1: assay: PASS'
nobody_calls scontrol
[ "$(grep -c 'run .*/health.json --time-limit 40s' calls)" = 1 ] || fail "what was measured: $(cat calls)"
grep -q ' assay: PASS' state/reason || fail "no reason is kept: $(cat state/reason)"

# A bad node: nothing is done unless asked.
is 'idle|none' 1 "$bad"
healthcheck
expect 1 'would run: scontrol update nodename=n1 state=drain reason=..node_problem... assay:. below_limit'
nobody_calls scontrol
healthcheck --drain
expect 1 'below_limit'
grep -qxF 'scontrol update nodename=n1 state=drain reason=[node_problem] assay: below_limit: DGEMM: 3 of 4 TFLOP/s' calls || fail "$(cat calls)"
[ -d state/failed ] || fail "the evidence is gone"

# Who drained it, decides.
is 'drained|memory is swapped' 1 "$bad"
healthcheck --drain
expect 1 'somebody else has drained it \(memory is swapped\); left alone'
nobody_calls scontrol
for reason in 'memory is swapped' 'assay: [node_problem]' '[node_problem] nhc: disk' none; do
    is "drained|$reason" 0 'PASS'
    healthcheck --drain --undrain
    expect 0 'left alone'
    nobody_calls scontrol
done
is 'drained|[node_problem] assay: below_limit: DGEMM' 0 'PASS'
healthcheck --drain
expect 0 'would run: scontrol update nodename=n1 state=resume'
nobody_calls scontrol
healthcheck --undrain
expect 0 'PASS'
grep -qxF 'scontrol update nodename=n1 state=resume' calls || fail "$(cat calls)"
is 'draining|[node_problem] assay: below_limit: DGEMM' 1 "$bad" # drained once is enough
healthcheck --drain --undrain
expect 1 'below_limit'
nobody_calls scontrol

# What is not known drains nobody.
for verdict in '2 not_measured: DGEMM: not measured' '2 [user_problem] ecc_off: ECC is off' '1 [user_problem] quota: 2 of 64 CPUs' '1 said by a stranger' '99 '; do
    is 'idle|none' "${verdict%% *}" "${verdict#* }"
    healthcheck --drain
    expect 3 'assay:'
    nobody_calls scontrol
done
is 'idle|none' 0 PASS
echo 2 >run_code
healthcheck --drain
expect 3 'not known'
rm run_code
is '' 1 "$bad" # sinfo says nothing
healthcheck --drain
expect 1 'nothing is changed'
nobody_calls scontrol
is 'drained|[node_problem] assay: x' 2 'not_measured'
healthcheck --undrain
expect 3 'not_measured'
nobody_calls scontrol

# A prolog never asks Slurm anything: its exit code drains.
fake sinfo 'echo sinfo >>calls'
is 'idle|none' 1 "$bad"
healthcheck --prolog
expect 1 'node_problem'
nobody_calls scontrol
nobody_calls sinfo
grep -qF '[node_problem] assay: below_limit' state/reason || fail "the prolog's reason is lost"
is 'idle|none' 2 'not_measured'
healthcheck --prolog
expect 0 'not_measured'
healthcheck --prolog --strict
expect 1 'not_measured'
for wrong in '--prolog --drain' '--time-limit 60s' '--time-limit 0' --strict --unknown --suite; do
    # shellcheck disable=SC2086
    healthcheck $wrong
    expect 2 'healthcheck: '
done

# A second one beside it waits for nobody.
exec 8>state/lock
flock 8
is 'idle|none' 1 "$bad"
healthcheck --drain
expect 3 'another check is at work'
healthcheck --prolog
expect 0 'another check is at work'
exec 8>&-
# Where nothing can be written nothing is known.
: >file
said=$("$check" --state "$work/file/state" --node n1 --drain 2>&1)
code=$?
expect 3 'cannot write'
echo ok
