#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ssh_test.sh ASSAY: scripts/sweep by real ssh, on h1 of with_ssh 4; and the recipes for clush and pdsh where those are here.
set -uo pipefail
# shellcheck source=../recipes/expect.sh disable=SC2034,SC2154
. "$(dirname "${BASH_SOURCE[0]}")/../recipes/expect.sh" "$ASSAY_CLUSTER/ssh_test"
assay=$1 suite=$project/tests/cluster/node_suite.json

# h3 is off the network, h4 lets nobody in.
"$ASSAY_CLUSTER/switch" link h3 down
"$ASSAY_CLUSTER/agent" h4 'pkill -o sshd'
for _ in $(seq 500); do ssh -F "$ASSAY_SSH" -n h4 true 2>/dev/null || break; done
said=$("$project/scripts/sweep" --hosts 'h[1-4]' --agent "ssh -n -F $ASSAY_SSH" --scratch "$work" --assay "$assay" --limit 60 --out all "$suite" --quiet 2>&1)
code=$?
expect 3 'answered: 2 of 4'
expect 3 'did not answer: 2'
expect 3 'h3: ssh: connect to host h3 port 22: (No route to host|Connection timed out)'
expect 3 'h4: ssh: connect to host h4 port 22: Connection refused'
for host in h1 h2; do
    grep -q "\"node\": *\"$host\"" "$(find "all/$host" -name run.json)" || fail "$host is not who it says: $(find "all/$host")"
done
said=$("$assay" check all --json)
[ "$(grep -c '"verdict": "INCONCLUSIVE"\|"verdict": "PASS"\|"verdict": "FAIL"' <<<"$said")" -gt 0 ] || fail "what was gathered cannot be judged: $said"
# When it is back, it is asked again, and nobody else.
"$ASSAY_CLUSTER/switch" link h3 up
said=$("$project/scripts/sweep" --hosts 'h[1-4]' --agent "ssh -n -F $ASSAY_SSH" --scratch "$work" --assay "$assay" --limit 60 --out all "$suite" --quiet 2>&1)
code=$?
expect 3 'answered: 3 of 4'
expect 3 '2 of 4 hosts have answered before'
# A host that hangs is stopped there, after its limit.
# shellcheck disable=SC2016
printf '#!/bin/bash\n[ "$(hostname)" = h2 ] && exec sleep 1000.77\nexec %q "$@"\n' "$assay" >hangs
chmod +x hangs
said=$("$project/scripts/sweep" --hosts 'h[1-2]' --agent "ssh -n -F $ASSAY_SSH" --scratch "$work" --assay "$work/hangs" --limit 20 --out hang "$suite" --quiet 2>&1)
code=$?
expect 3 'timed out after 20: 1'
expect 3 '    h2: '
! ssh -F "$ASSAY_SSH" -n h2 "pgrep -f 'sleep [1]000.77'" >/dev/null || fail "it goes on in the background"

# A connection that is cut: the host stops, what it had measured is fetched, and the fleet knows of it; then it goes on there.
lost() {
    "$project/scripts/sweep" --hosts h1 --agent "ssh -F $ASSAY_SSH" --scratch "$work" --assay "$assay" --out lost "$suite" --quiet 2>&1
}
lost >lost.said &
journal='assay-sweep-*-h1/results/*/*/*/*/journal.ndjson'
# shellcheck disable=SC2086
for _ in $(seq 600); do [ "$(cat $journal 2>/dev/null | wc -l)" -gt 1 ] && break || sleep 0.05; done
pkill -f "^ssh -F $ASSAY_SSH h1 exec bash.* measure "
wait $!
code=$? said=$(cat lost.said)
expect 3 'began and was lost: 1'
! ssh -F "$ASSAY_SSH" -n h1 "pgrep -f '[r]un $suite'" || fail "it goes on though nobody waits"
cp "$(find lost/h1 -name journal.ndjson)" begun
[ "$(wc -l <begun)" -gt 1 ] || fail "what was measured is lost: $(find lost)"
said=$("$assay" fleet lost --expect lost/sweep/nodes.txt --json)
grep -q '"state": "\(running\|partial\)"' <<<"$said" || fail "the fleet does not know: $said"
said=$(lost)
code=$?
expect 0 'answered: 1 of 1'
cmp -n "$(wc -c <begun)" begun "$(find lost/h1 -name journal.ndjson)" || fail "it began anew"
[ "$(find lost/h1 -name run.json | wc -l)" = 1 ] || fail "$(find lost/h1)"
! compgen -G 'assay-sweep-*-h1' || fail "what was fetched is still there"

# The recipes of scripts/README.md: a folder that all hosts see.
if command -v clush >/dev/null; then
    said=$(clush -o "-F $ASSAY_SSH" -w 'h[1-4]' -f 64 -u 60 "timeout 50 $assay run $suite --out $work/clush/\$(hostname) --tag node=\$(hostname) --quiet" 2>&1)
    grep -q 'h4: .*Connection refused' <<<"$said" || fail "$said"
    [ "$(find clush -name run.json | wc -l)" = 3 ] || fail "clush: $(find clush -name run.json) $said"
else
    echo 'no clush here (Debian: clustershell)'
fi
if command -v pdsh >/dev/null; then
    said=$(PDSH_SSH_ARGS_APPEND="-F $ASSAY_SSH" pdsh -R ssh -w 'h[1-4]' -f 64 -u 60 "timeout 50 $assay run $suite --out $work/pdsh/\$(hostname) --tag node=\$(hostname) --quiet" 2>&1)
    [ "$(find pdsh -name run.json | wc -l)" = 3 ] || fail "pdsh: $(find pdsh -name run.json) $said"
else
    echo 'no pdsh here (Debian: pdsh)'
fi
echo ok
