#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bare_test.sh BUILD FOLDER: the Debian package on a system that has nothing else: debootstrap's minbase of the release and the
# mirror of this machine. apt installs it with what it needs; then it lists, measures and reports. 77 where that cannot be.
set -euo pipefail
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$1 folder=$2
skip() { echo "bare_test: skipped: $1" >&2; exit 77; }
fail() { echo "FAILED: $*"; exit 1; }
PATH=$PATH:/usr/sbin:/sbin
[ "$(id -u)" = 0 ] || skip "needs root"
for tool in debootstrap wget unshare; do command -v "$tool" >/dev/null || skip "needs $tool"; done
. /etc/os-release
[ "$ID" = debian ] || skip "needs Debian: libraries are those of the system that it was built on"
mirror=$(sed -nE 's/^(deb|URIs:) +(http[^ ]*).*/\2/p' /etc/apt/sources.list /etc/apt/sources.list.d/*.sources 2>/dev/null | head -n 1) || true
wget -q --timeout=10 --tries=1 -O /dev/null "${mirror:=http://deb.debian.org/debian}/dists/$VERSION_CODENAME/Release" || skip "no network to $mirror"
# Mounts are of this process alone and end with it.
if [ -z "${ASSAY_BARE_INSIDE:-}" ]; then
    ASSAY_BARE_INSIDE=yes exec unshare --mount --propagation private "$0" "$@" || skip "may not make namespaces"
fi

rm -rf "$folder"
mkdir -p "$folder"
trap 'rm -rf "$folder/root"' EXIT
ASSAY_BUILD=$build "$project/scripts/package" --cpack "$folder" 2>"$folder/said" || fail "$(tail -n 20 "$folder/said")"
start=$SECONDS
debootstrap --variant=minbase "$VERSION_CODENAME" "$folder/root" "$mirror" >"$folder/said" 2>&1 || fail "debootstrap: $(tail -n 20 "$folder/said")"
echo "bare system: $((SECONDS - start)) s"
for mount in proc sys dev; do mount --rbind --make-rslave "/$mount" "$folder/root/$mount"; done
trap 'umount --lazy "$folder"/root/{proc,sys,dev} && rm -rf --one-file-system "$folder/root"' EXIT
cp "$folder"/*.deb "$folder/root/tmp/assay.deb"
there() { env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/root DEBIAN_FRONTEND=noninteractive ${http_proxy:+http_proxy="$http_proxy"} chroot "$folder/root" "$@"; }
start=$SECONDS
{ there apt-get update -q && there apt-get install -y -q /tmp/assay.deb; } >"$folder/said" 2>&1 || fail "apt: $(tail -n 20 "$folder/said")"
echo "package with what it needs: $((SECONDS - start)) s, $(there dpkg-query -f '.\n' -W | wc -l) packages, $(du -sm --one-file-system "$folder/root" | cut -f1) MB"
there assay list --json >"$folder/list.json" || fail "it does not run"
for id in memory.latency gemm.square collective.fabric network.put; do grep -q "\"$id\"" "$folder/list.json" || fail "it lists no $id"; done
there assay run memory.latency --set memory.latency.footprint=16KiB --replicas 1 --budget 1s --patience 0 --out /results --quiet ||
    fail "it does not measure"
# Two ranks on this machine: the library of MPI and its launcher came along.
there env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 assay run collective.send_receive --set '*.bytes=8' --replicas 1 \
    --budget 1s --patience 0 --out /team --quiet || fail "a team does not measure: $(there assay report /team --md - | tail -n 20)"
there assay report /results --md - | grep -q 'latency' || fail "it does not report"
for file in docs/acceptance.md cluster/sweep llms.txt; do [ -e "$folder/root/usr/share/assay/$file" ] || fail "$file is missing"; done
echo ok
