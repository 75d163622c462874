#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cloud_init_test.sh WORK: the script inside scripts/cloud-init/user-data.yaml installs, measures and uploads, with an
# archive of its own; cloud-init's check of the whole file is used where it is installed.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/expect.sh" "$1"
recipe=$project/scripts/cloud-init/user-data.yaml

block() { # path: the content of that file
    awk -v path="$1" '$2 == "path:" || $1 == "-" && $2 == "path:" { mine = $3 == path; inside = 0 }
        mine && $1 == "content:" { inside = 1; next }
        inside && /^      |^$/ { print substr($0, 7); next } inside { exit }' "$recipe"
}
block /usr/local/sbin/assay-once >once
block /etc/assay/recipe >example
[ "$(head -n 1 once)" = '#!/bin/bash' ] && bash -n once && bash -n example || fail "the scripts inside cannot be read: $(head -n 3 once)"

mkdir -p made/assay-1/bin
cat >made/assay-1/bin/assay <<'END'
#!/bin/bash
printf '%s|' "$@" >said
while [ "$1" != --out ]; do shift; done
echo '{}' >"$2/run.json"
exit 3
END
chmod +x made/assay-1/bin/assay
tar -C made -czf archive.tar.gz assay-1
cat >recipe <<END
ARCHIVE=file://$work/archive.tar.gz
SHA256=$(sha256sum archive.tar.gz | cut -d' ' -f1)
RUN=(quick --check --note "two words")
upload() { cp -r "\$1" $work/uploaded; }
finally() { touch $work/off; }
END
once() { bash once "$work/$1" "$work/home" "$work/results" "$work/log" && code=0 || code=$?; said=$(tail -n 3 log); }
once recipe
expect 3 '^3$'
[ "$(cat said)" = "run|quick|--check|--note|two words|--out|$work/results|--resume|" ] || fail "$(cat said)"
[ -e uploaded/run.json ] && [ -e off ] || fail "nothing was uploaded, or the machine is still on"

rm -rf said off
sed 's/^SHA256=.*/SHA256=00/' recipe >changed
once changed
expect 4 'is not what it should be|no properly formatted'
[ ! -e said ] && [ -e off ] || fail "a wrong archive was run, or the machine is still on"
{ cat recipe && echo 'upload() { false; }'; } >no-way
once no-way
expect 4 'the upload failed'

if ! command -v cloud-init >/dev/null; then
    echo 'ok, but no cloud-init here: its schema was not asked'
    exit
fi
cloud-init schema --config-file "$recipe" >schema.said 2>&1 || fail "$(cat schema.said)"
sed 's/^runcmd:/runcmds:/; s/^package_update: true/package_update: often/' "$recipe" >wrong.yaml
cloud-init schema --config-file wrong.yaml >schema.said 2>&1 && fail "cloud-init finds nothing wrong: $(cat schema.said)"
echo ok
