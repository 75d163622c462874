#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# slurm_nodes_test.sh ASSAY: scripts/sweep as a Slurm job, and scripts/slurm/healthcheck started by Slurm itself, on h1 of
# with_slurm 3.
set -uo pipefail
# shellcheck source=../recipes/expect.sh disable=SC2034,SC2154
. "$(dirname "${BASH_SOURCE[0]}")/../recipes/expect.sh" "$ASSAY_CLUSTER/slurm_nodes"
assay=$1 slurm=$ASSAY_CLUSTER/slurm suite=$project/tests/cluster/node_suite.json
state_of() { sinfo --noheader --nodes="$1" --format='%T|%E' | head -n 1; }
until_is() { # node, state and reason as a pattern; two minutes at most
    for _ in $(seq 1200); do
        # shellcheck disable=SC2053
        [[ $(state_of "$1") == $2 ]] && return
        sleep 0.1
    done
    fail "$1 is $(state_of "$1"), not $2; $(tail -n 5 "$slurm/slurmd.$1.log")"
}
now() { # health, prolog or epilog, what Slurm runs on each node; nothing: no more
    [ -n "$2" ] || { rm -f "$slurm/$1.now"; return; }
    printf '#!/bin/bash\n%s\n' "$2" >"$slurm/$1.new"
    chmod +x "$slurm/$1.new"
    mv "$slurm/$1.new" "$slurm/$1.now"
}

# --- a step for each node ---

sweep() { # options of sbatch... -- arguments of sweep...
    local before=()
    while [ "$1" != -- ]; do before+=("$1") && shift; done
    said=$(timeout 150 sbatch --wait --quiet --output="$work/log" "${before[@]}" "$project/scripts/sweep" --scratch "$work" --assay "$assay" --limit 60 "${@:2}" 2>&1)
    code=$?
    said+=$(cat log)
}
sweep --nodes=3 -- --out all "$suite" --quiet
expect 0 'answered: 3 of 3'
for host in h1 h2 h3; do
    run=$(find "all/$host" -name run.json)
    grep -q "\"node\": *\"$host\"" "$run" || fail "$host has no tag: $(grep -A3 tags "$run")"
done
# A node whose daemon is gone does not answer; the others do.
"$ASSAY_CLUSTER/agent" h3 'pkill slurmd'
sweep --nodes=3 -- --out some "$suite" --quiet
expect 3 'answered: 2 of 3'
expect 3 'did not answer: 1'
expect 3 '    h3: .*(connect|Connection|Communication)'
"$ASSAY_CLUSTER/agent" h3 "SLURM_CONF=$SLURM_CONF slurmd -N h3"
until_is h3 'idle|*'

# --- the health check ---

# One part is missing in h2, whatever else this machine does; later it is there. The verdict of a good node is made up: a
# busy machine proves none.
cat >assay <<END
#!/bin/bash
if [ "\$(hostname)" = h2 ] && [ ! -e $work/repaired ]; then exec $assay "\$@"; fi
[ "\$1" = run ] || echo 'PASS: 1 of 1 required checks ran'
END
chmod +x assay
check() { echo "$project/scripts/slurm/healthcheck --assay $work/assay --suite $suite --expect gpu=8 --state $work/state.\$(hostname) $1 >>$work/said.\$(hostname) 2>&1"; }
until_said() { # host, words
    for _ in $(seq 1200); do
        grep -qE -- "$2" "said.$1" 2>/dev/null && return
        sleep 0.1
    done
    fail "\"$2\" is not in: $(cat "said.$1")"
}
now health "$(check '')"
until_said h2 'would run: scontrol update nodename=h2 state=drain'
[[ $(state_of h2) == 'idle|none' ]] || fail "a dry run changed h2: $(state_of h2)"
now health "$(check --drain)"
until_is h2 'drained|[[]node_problem] assay: part_missing: gpu=8*'
[[ $(state_of h1) == 'idle|none' ]] || fail "h1 is $(state_of h1)"
touch repaired
until_said h2 'would run: scontrol update nodename=h2 state=resume'
now health "$(check --undrain)"
until_is h2 'idle|none'
# Drained by a person: neither reason nor state change, whatever the check finds.
rm -f repaired said.h2
scontrol update nodename=h2 state=drain reason='disk is slow'
now health "$(check '--drain --undrain')"
until_said h2 'part_missing'
touch repaired
until_said h2 'PASS'
[ "$(state_of h2)" = 'drained|disk is slow' ] || fail "h2 is $(state_of h2)"
now health ''
scontrol update nodename=h2 state=resume
until_is h2 'idle|none'

# --- the prolog ---

rm -f repaired
now prolog "$(check --prolog)"
said=$(timeout 100 srun --nodelist=h1 --nodes=1 hostname 2>&1)
code=$?
expect 0 '^h1$'
timeout 20 srun --nodelist=h2 --nodes=1 hostname >/dev/null 2>&1 && fail "a job began on h2"
until_is h2 'drain*|*Prolog error*'
grep -qF '[node_problem] assay: part_missing' state.h2/reason || fail "the reason is lost: $(cat state.h2/reason)"
[ -e state.h2/failed/log ] || fail "the evidence is lost"

# --- the epilog: the job has ended well, and no other begins there ---

now prolog ''
scontrol update nodename=h2 state=resume
until_is h2 'idle|none'
rm -rf state.h2
now epilog "$(check --prolog)"
said=$(timeout 100 srun --nodelist=h2 --nodes=1 hostname 2>&1)
code=$?
expect 0 '^h2$'
until_is h2 'drain*|*Epilog error*'
grep -qF '[node_problem] assay: part_missing' state.h2/reason || fail "the reason is lost: $(cat state.h2/reason)"
[[ $(state_of h1) == 'idle|none' ]] || fail "h1 is $(state_of h1)"
echo ok
