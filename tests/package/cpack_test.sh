#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cpack_test.sh BUILD FOLDER: archive and Debian package have the same bytes when they are made again, are of root and of
# one time, and run where they are unpacked; those for another processor by an emulator (QEMU_LD_PREFIX has its libraries). ASSAY_COMPONENTS: these parts alone, of a build that is not complete.
set -euo pipefail
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$1 folder=$2
bare() { env -i PATH=/usr/bin:/bin ${QEMU_LD_PREFIX:+QEMU_LD_PREFIX="$QEMU_LD_PREFIX"} "$@"; }
fail() { echo "FAILED: $*"; exit 1; }

rm -rf "$folder"
mkdir -p "$folder"
export SOURCE_DATE_EPOCH=1767225600 # 2026-01-01
for time in first second; do
    ASSAY_BUILD=$build "$project/scripts/package" --cpack "$folder/$time" 2>"$folder/said" || fail "$(tail -n 20 "$folder/said")"
    sleep 1.1 # another second on the clock
done
for file in "$folder"/first/*; do
    cmp "$file" "$folder/second/$(basename "$file")" || fail "$(basename "$file") differs when it is made again"
done
archive=$(echo "$folder"/first/*.tar.gz) deb=$(echo "$folder"/first/*.deb)
tar -tvzf "$archive" >"$folder/list"
[ "$(awk '{ print $2, $4 }' "$folder/list" | sort -u)" = "root/root 2026-01-01" ] || fail "owners or times: $(awk '{ print $2, $4 }' "$folder/list" | sort | uniq -c)"
[ "$(tar -tzf "$archive" | cut -d/ -f1 | sort -u | wc -l)" = 1 ] || fail "it unpacks into more than a folder"
tar -xzf "$archive" -C "$folder"
bare "$folder/$(basename "$archive" .tar.gz)/bin/assay" list --json >"$folder/list.json" || fail "it does not run"
grep -q '"memory.stream"' "$folder/list.json" || fail "it lists no benchmarks"

dpkg-deb --contents "$deb" | awk '{ print $6 }' >"$folder/contents"
[ "$(grep -cvE '^\./(usr/.*)?$' "$folder/contents")" = 0 ] || fail "files outside of /usr: $(grep -vE '^\./(usr/.*)?$' "$folder/contents" | head)"
dpkg-deb --extract "$deb" "$folder/root"
bare "$folder/root/usr/bin/assay" list --json | cmp -s - "$folder/list.json" || fail "the package's program does not list what the archive's does"
case $(od -An -tu2 -j18 -N2 "$folder/root/usr/bin/assay" | tr -d ' ') in # e_machine of ELF
62) architecture=amd64 ;;
183) architecture=arm64 ;;
*) architecture=$(dpkg --print-architecture) ;;
esac
field() { dpkg-deb --field "$deb" "$1"; }
[ "$(field Architecture)" = "$architecture" ] || fail "its architecture is $(field Architecture), its programs are for $architecture"
if command -v dpkg-shlibdeps >/dev/null; then
    for package in 'libc6 (>= [0-9.]*)' 'libstdc++6 (>= [0-9.]*)' 'libhwloc15 (>= [0-9.]*)'; do
        field Depends | tr ',' '\n' | sed 's/^ //' | grep -qx "$package" || fail "it does not depend on $package: $(field Depends)"
    done
fi
[ -e "$folder/root/usr/share/assay/schema/verdict.json" ] || fail "schemas are missing"
echo "ok: $(stat -c '%n %s' "$archive" "$deb" | sed "s#$folder/first/##" | tr '\n' ' ')"
