#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tree_test.sh BUILD FOLDER: the tree that scripts/package makes of a build runs where it was moved to, and takes its
# libraries from itself.
set -euo pipefail
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$1 folder=$2
fail() { echo "FAILED: $*"; exit 1; }

rm -rf "$folder"
mkdir -p "$folder"
ASSAY_BUILD=$build "$project/scripts/package" --out "$folder/made"
code=0
ASSAY_BUILD=$build "$project/scripts/package" --out "$folder/made" 2>"$folder/said" || code=$?
[ $code -eq 2 ] || fail "it wrote over a folder, exit code $code"
grep -q 'is there already' "$folder/said" || fail "no word on the folder: $(cat "$folder/said")"

# The small one is of one architecture: of a build for another it is refused.
code=0
ASSAY_BUILD=$build "$project/scripts/package" --gpu-only --arch 9.0 --out "$folder/small" 2>"$folder/said" || code=$?
if grep -q '^ASSAY_CUDA_ARCHITECTURES:STRING=90$' "$build/CMakeCache.txt"; then
    [ $code -eq 0 ] || fail "--gpu-only: exit code $code: $(cat "$folder/said")"
    [ -x "$folder/small/source/rebuild" ] && [ -e "$folder/small/lib/assay/cuda.so" ] || fail "--gpu-only lacks its parts"
    while read -r source; do [ -e "$folder/small/source/$source" ] || fail "no $source"; done <"$folder/small/source/sources"
else
    [ $code -eq 2 ] && grep -q 'other device code' "$folder/said" || fail "--gpu-only: exit code $code: $(cat "$folder/said")"
fi
mv "$folder/made" "$folder/moved elsewhere"
tree="$folder/moved elsewhere"
# Nothing of our environment: what it needs, it has.
env -i PATH=/usr/bin:/bin "$tree/bin/assay" list --json >"$folder/list.json"
grep -q '"memory.stream"' "$folder/list.json" || fail "it lists no benchmarks"
for page in assay assay-report; do [ -s "$tree/share/man/man1/$page.1" ] || fail "no manual page of $page"; done
env -i PATH=/usr/bin:/bin "$tree/bin/assay" run 'memory.stream[host]' --replicas 1 --budget 2s --out "$folder/out" \
    --set memory.stream.kernel=copy --set memory.stream.footprint=1MiB --set memory.stream.stores=plain \
    --set memory.stream.threads=one >"$folder/run.txt" || fail "it cannot run: $(cat "$folder/run.txt")"

outside=$(find "$tree/bin" "$tree/lib/assay" -type f \( -name '*.so' -o -perm -u+x \) ! -name mpi.so ! -name hip.so ! -name hipfft.so ! -name rccl.so ! -name rocblas.so ! -name '*_mpi.so' ! -name 'ucx*.so' ! -name ofi.so -print0 |
    xargs -0 -n 1 sh -c 'ldd "$1" 2>/dev/null || true' ldd | awk '$2 == "=>" { print $1, $3 }' | sort -u |
    grep -F -v "$folder/moved" |
    grep -vE '^(lib(c|m|dl|pthread|rt|resolv|stdc\+\+|gcc_s)|libcu.*|libnv.*|libnccl|libuc[pstm])\.so' || true)
[ -z "$outside" ] || fail "libraries from outside of the tree: $outside"
if [ ! -e /dev/nvidiactl ] && ! ls /proc/driver/nvidia >/dev/null 2>&1; then
    code=0
    env -i PATH=/usr/bin:/bin "$tree/bin/gpu-check" --out "$folder/check" 2>"$folder/said" || code=$?
    [ $code -eq 4 ] || fail "gpu-check ended with $code without a GPU"
    grep -q 'no NVIDIA GPU' "$folder/said" || fail "gpu-check says: $(cat "$folder/said")"
fi
rm -rf "$folder"
