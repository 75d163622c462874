#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sweep_test.sh WORK: scripts/sweep over hosts that a made-up agent plays: who answers, who does not, and what is gathered.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/expect.sh" "$1"

# The agent starts the shell's command here, as ssh would there.
cat >bin/agent <<'END'
#!/bin/bash
case $1 in
silent*) echo "ssh: connect to host $1 port 22: No route to host" >&2 && exit 255 ;;
deaf*) exec -a "deaf-$WORK" sleep 100 ;;
lost*) echo 'sweep: started' >&2 && echo 'Connection closed by remote host' >&2 && exit 255 ;;
gone*) # once: the network ends while it measures, or in the archive; gone3 does not notice
    if mkdir "$WORK/$1.was" 2>/dev/null; then
        case $1 in
        gone2) HOST=$1 bash -c "$2" | head -c 1000 && exit 255 ;;
        gone3) HOST=$1 bash -c "$2" </dev/null >/dev/null & ;;
        *) HOST=$1 bash -c "$2" < <(echo && until [ -e "$WORK/$1.measures" ]; do sleep 0.02; done) >/dev/null & ;;
        esac
        until [ -e "$WORK/$1.measures" ]; do sleep 0.02; done
        exit 255
    fi
    ;;
esac
HOST=$1 exec bash -c "$2"
END
# shellcheck disable=SC2016
cat >bin/assay <<'END'
#!/bin/bash
if [ "${*: -1}" = --dry-run ]; then
    [ "$2" != quik ] || { echo 'assay: there is no suite or benchmark "quik" (did you mean "quick"?)' >&2 && exit 2; }
    exit
fi
for word in "$@"; do [ "$last" != --out ] || out=$word; last=$word; done
run=$(compgen -G "$out/run.*") || { run=$out/run.$$ && mkdir "$run"; }
echo case >>"$run/journal.ndjson"
echo "measuring on $HOST" >&2
case $HOST in
gone2) echo >>"$WORK/gone2.measures" ;;
gone*)
    trap 'kill $!; exit 5' TERM
    echo >"$WORK/$HOST.measures"
    [ "$(wc -l <"$run/journal.ndjson")" -gt 1 ] || { sleep 100.7 & wait; }
    ;;
esac
printf '%s|' "$@" >"$run/run.json"
case $HOST in
slow*) [ -e "$WORK/fast" ] || exec sleep 100 ;;
bad*) exit 1 ;;
open*) exit 3 ;;
off*) [ -e "$WORK/fast" ] || exit 5 ;;
esac
END
chmod +x bin/*
export WORK=$work
mkdir there
sweep() { # options...: what it says in `said`, its exit code in `code`
    said=$("$project/scripts/sweep" --agent "$work/bin/agent" --scratch "$work/there" "$@" 2>&1)
    code=$?
}

# Hosts as people write them.
hosts_of() { sweep --out names --at-once 40 --assay /none --limit 5 --hosts "$1" quick; paste -sd' ' names/sweep/nodes.txt; rm -rf names; }
[ "$(hosts_of 'silent[08-10]')" = 'silent08 silent09 silent10' ] || fail "ranges: $said"
[ "$(hosts_of 'silent[1-2,7]:2,silentb')" = 'silent1 silent2 silent7 silentb' ] || fail "slots: $said"
[ "$(hosts_of 'silent[1-2]n[01,3].org')" = 'silent1n01.org silent1n3.org silent2n01.org silent2n3.org' ] || fail "two brackets: $said"
# shellcheck disable=SC2016
for wrong in 'a[3-1]' 'a[1' 'a]1' 'a[x]' 'a[]' 'a,,b' 'a,' '-x' 'a,a' 'a b' '$(reboot)' '../a' sweep; do
    sweep --out names --hosts "$wrong" quick
    expect 2 'sweep: '
done
sweep --out names --hosts a
expect 2 'name a suite or benchmark'
sweep --out names quick
expect 2 'no hosts'
sweep --out names --hosts a --limit soon quick
expect 2 'limit'
sweep --out names --hosts a quik --check
expect 2 '^assay: there is no suite or benchmark "quik"'
sweep --out names --hosts silent1 quik --limits /on/the/hosts.json
expect 3 'did not answer: 1'
rm -r names
[ ! -e names ] || fail "a wrong command leaves something behind"

# All that may happen to a host, in one sweep.
printf 'good1 slots=4 # the first\n\n# none\nbad1\n' >hostfile
sweep --hosts 'good[2-3]' --hostfile hostfile --out good quick --check --note "it's one word"
expect 1 'answered: 4 of 4'
expect 1 '0 \(done; .*\): 3$'
expect 1 '1 \(failed\): 1  bad1$'
grep -qF "|run|quick|--check|--note|it's one word|--resume|--tag|node=good2|--out|" <(sed 's/^/|/' good/good2/run.*/run.json) || fail "the command: $(cat good/good2/run.*/run.json)"
sweep --hosts 'good1,slow1,silent1,lost1,off1,open1' --limit 4 --out mixed quick
expect 5 'answered: 3 of 6'
expect 5 '5 \(interrupted\): 1  off1'
expect 5 'timed out after 4: 1'
expect 5 'silent1: ssh: connect to host silent1 port 22: No route to host'
expect 5 'lost1: Connection closed by remote host'
compgen -G 'mixed/slow1/run.*/run.json' >/dev/null || fail "what was measured until the limit is lost"
[ "$(cut -f 1,2 mixed/sweep/list.tsv | tr '\t\n' '= ')" = 'good1=answered slow1=timed_out silent1=silent lost1=lost off1=answered open1=answered ' ] || fail "$(cat mixed/sweep/list.tsv)"
sweep --hosts 'good1,silent1' --out two quick
expect 3 'did not answer: 1'

# The second time asks those that are missing, and keeps what is there.
touch fast
before=$(echo mixed/good1/run.*)
sweep --hosts 'good1,slow1,silent1,lost1,off1,open1' --limit 20 --out mixed quick
expect 3 'answered: 4 of 6'
[ "$before" = "$(echo mixed/good1/run.*)" ] || fail "good1 was measured again"
[ "$(cat mixed/slow1/run.*/journal.ndjson | wc -l)" = 2 ] || fail "slow1 should go on with its run: $(head mixed/slow1/*/*)"
sweep --hosts good1 --out mixed standard
expect 2 'another command'

# A connection that is lost costs what was being measured and no more: the rest is fetched as far as it went, the host stops,
# and the next time it goes on there. gone2 has measured, and is asked
# for its archive alone; gone3 does not notice, and is stopped by the next connection.
sweep --hosts 'gone[1-3]' --out gone quick
expect 3 'began and was lost: 2'
expect 3 'answered: 1 of 3'
for host in gone1 gone3; do
    [ "$(cat gone/$host/run.*/journal.ndjson)" = case ] || fail "$host: what was measured is lost: $(find gone there)"
    [ ! -e gone/$host/exit-code ] || fail "$host answered"
done
! compgen -G 'gone/gone1/run.*/run.json' || fail "half a run has a result"
! pgrep -f "sleep 100[.]7" >/dev/null || fail "what nobody waits for goes on"
sweep --hosts 'gone[1-3]' --out gone quick
expect 0 'answered: 3 of 3'
[ "$(cat gone/gone1/run.*/journal.ndjson | wc -l)" = 2 ] || fail "gone1 begins anew"
[ "$(wc -l <gone2.measures)" = 1 ] || fail "gone2 measures twice"
! compgen -G "there/*gone*" || fail "what was fetched stays there"
sweep --hosts good1 --out gone --scratch /none quick
expect 3 'good1: sweep: cannot use /none/assay-sweep'

# A host that accepts and says nothing is given up a minute after its limit: not waited for here. An interruption reaches it.
"$project/scripts/sweep" --agent "$work/bin/agent" --scratch "$work/there" --hosts deaf1,good1 --out cut quick >cut.said 2>&1 &
pid=$!
until [ -e cut/sweep/good1.state ] && pgrep -f "^deaf-$work" >/dev/null; do sleep 0.05; done
kill -TERM $pid
wait $pid
code=$? said=$(cat cut.said)
expect 5 'not asked to the end: 1'
expect 5 'answered: 1 of 2'
! pgrep -f "^deaf-$work" >/dev/null || fail "a connection is left behind"

# --- scripts/kubernetes/sweep/measure: a node is claimed by one index ---

export HOST=bad1 JOB=j NODES=2 RESULTS=$work/volume HOLD=0 ASSAY=$work/bin/assay
measure() { # node, index
    said=$(NODE_NAME=$1 JOB_COMPLETION_INDEX=$2 "$project/scripts/kubernetes/sweep/measure" quick 2>&1)
    code=$?
}
measure n1 0
expect 1 measuring
grep -q -- '--resume|--tag|node=n1' volume/j/n1/run.*/run.json || fail "$(cat volume/j/n1/run.*/run.json)"
HOST=good1
measure n1 1
expect 75 'n1 was measured as index 0'
measure n1 0
expect 0 measuring # goes on
JOB=next
measure n1 1
expect 0 measuring
# A pod that died before it had claimed its node leaves it to others.
mkdir -p volume/died/n1
JOB=died
measure n1 1
expect 0 measuring
# It stays on its node until the other one is claimed.
JOB=held HOLD=100
(measure n1 0; echo "$code" >held) &
until [ -e volume/held/n1/index ]; do sleep 0.05; done
[ ! -e held ] || fail "it made room for another index"
measure n2 1
expect 0 measuring
wait $!
[ "$(cat held)" = 0 ] || fail "$(cat held)"
echo ok
