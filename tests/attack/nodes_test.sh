#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# nodes_test.sh WORK: scripts/sweep against nodes that answer with anything. An answer is regular files and folders below
# the folder of its node, bounded in number, size and names; an exit code is a number; a terminal gets plain text.
set -uo pipefail
# shellcheck source=../recipes/expect.sh disable=SC2034,SC2154
. "$(dirname "${BASH_SOURCE[0]}")/../recipes/expect.sh" "$1"

cat >bin/agent <<'END'
#!/bin/bash
[ "$1" = good1 ] || case $2 in
*' remove 30m '*) printf '\033[2Jgood9: answered 0, 1 s\n' && printf '\033]0;title\007' >&2 && exit ;;
esac
[[ $2 == *' measure '* || $2 == *' fetch '* ]] || exit
echo 'sweep: started' >&2
folder=$WORK/sent/$1
rm -rf "$folder"
mkdir -p "$folder/run" && cd "$folder" || exit
echo mine >run/run.json
echo 0 >exit-code
case $1 in
links) # a link, through which the second answer would write
    if [ -e "$WORK/again" ]; then echo overwritten >link; else ln -s "$WORK/precious" link && rm exit-code; fi ;;
shadow) ln -sf "$WORK/zero" exit-code ;;
forged) printf '0\ngood9\tanswered\t0\t1\t-\n\033[31mred\n' >exit-code ;;
kinds) # all kinds but files and folders; a folder that nobody may read
    mkfifo run/pipe
    mknod run/zero c 1 5 2>/dev/null
    ln run/run.json run/second
    ln -s / root
    mkdir closed && ln -s "$WORK/precious" closed/link && chmod 0 closed
    echo script >run/script && chmod 4755 run/script
    ;;
lists) mkdir -p sweep run/sweep && tee sweep/list.tsv run/sweep/list.tsv <<<$'good1\tanswered\t0\t1\t-9999' >/dev/null ;;
names) # controls, and what turns a line around
    echo >$'run/a\033[2Jb' && echo >$'run/a\nb' && echo >$'run/a\u202eb' ;;
outside) # of the folder
    echo escaped >"$WORK/sent/absolute"
    tar -P --transform 's,^run/run.json$,../../escaped,' -cf - run/run.json "$WORK/sent/absolute" exit-code
    exec rm "$WORK/sent/absolute" ;;
says) printf 'what \033]0;title\007\302\233\233\177 it \342\200\256says\n' >&2 && exit 1 ;;
many) touch run/{1..130} ;;
deep) deep=$(printf 'x/%.0s' {1..260}) && mkdir -p "run/$deep" && echo >"run/$deep/run.json" ;;
sparse | large) exec cat "$WORK/$1.tar" ;;
talks) yes 'talks and talks' >&2 ;;
cut) tar -cf - . | head -c 700 && exit ;;
noise) exec head -c 100000 /dev/urandom ;;
esac
exec tar -cf - .
END
chmod +x bin/agent
export WORK=$work
# Smaller limits than those of users, so that they are reached in no time.
sed 's/2 << 30/10 << 20/;s/32 << 20/1 << 20/;s/20000/100/' "$project/scripts/sweep" >bin/small-sweep
ask_nodes() { # what it says in `said`, its exit code in `code`
    said=$(bash bin/small-sweep --agent "$work/bin/agent" --assay /none --out out --hosts "$1" quick 2>&1)
    code=$?
}
states() { cut -f 1-3 out/sweep/list.tsv | tr '\t\n' '= '; }

echo precious >precious
echo 0 >zero
# Made before, because what a node's agent writes is limited.
cp zero exit-code
truncate -s 1T samples.ndjson && tar --sparse -cf sparse.tar exit-code samples.ndjson
truncate -s 20M samples.ndjson && tar -cf large.tar exit-code samples.ndjson
ask_nodes good1,links,shadow,forged,kinds,lists,names,outside,says,many,deep,sparse,large,talks,cut,noise
expect 3 'answered: 6 of 16'
expect 3 'began and was lost: 10'
expect 3 '^    large: refused: more than 10 MiB$'
expect 3 '^    many: refused: more than 100 files, or a path of more than 500 bytes$'
expect 3 '^    says: what \]0;title it says$'
[ "$(states)" = 'good1=answered=0 links=lost=- shadow=lost=- forged=lost=- kinds=answered=0 lists=answered=0 names=answered=0 outside=lost=- says=lost=- many=lost=- deep=lost=- sparse=answered=0 large=lost=- talks=answered=0 cut=lost=- noise=lost=- ' ] || fail "$(states)"
! LC_ALL=C grep -q '[^ -~]' <<<"$said" || fail "a node writes to the terminal: $(cat -v <<<"$said")"
! grep -q good9 <<<"$said" || fail "a node speaks for another: $said"
[ -z "$(find out ! -type d \( ! -type f -o -links +1 \))" ] || fail "more than plain files was taken: $(find out ! -type f ! -type d)"
[ "$(cd out/kinds && find . ! -name second ! -name run.json | LC_ALL=C sort | paste -sd' ')" = '. ./closed ./exit-code ./run ./run/script' ] || fail "$(find out/kinds)"
[ ! -u out/kinds/run/script ] || fail "a file runs as its owner"
[ -z "$(find . -name escaped)$(find sent -name absolute)" ] || fail "it leads out of its folder: $(find . -name escaped -o -name absolute)"
[ -z "$(find out -path '*/sweep/list.tsv' ! -path out/sweep/list.tsv)" ] || fail "a node brings a list of its own"
[ -z "$(LC_ALL=C find out -name '*[! -~]*')" ] || fail "names: $(find out/names | cat -v)"
[ "$(du -sm out | cut -f 1)" -lt 14 ] || fail "it takes any amount: $(du -a out | sort -n | tail -n 5)"
[ "$(find out | wc -l)" -lt 120 ] || fail "it takes any number: $(find out | head -n 200)"

# What an earlier version took stays no way in either.
ln -s "$work/precious" out/links/link
touch again
ask_nodes good1,links,shadow,forged,kinds,lists,names,outside,says,many,deep,sparse,large,talks,cut,noise
expect 3 'answered: 7 of 16'
[ "$(cat out/links/link)" = overwritten ] || fail "the second answer is lost: $(find out/links)"
[ "$(cat precious)" = precious ] || fail "a node writes into files of ours"
echo ok
