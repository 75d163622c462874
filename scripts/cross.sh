# SPDX-License-Identifier: Apache-2.0
# The host part for Arm on a machine of another kind: libraries, build, tests. Sourced by scripts/test --cross.

sysroot=build/cross/root

# Debian's arm64 packages unpacked, with lists of their own: the system is not touched, nor asked for anything. What they
# say of their libraries is kept in DEBIAN, for dpkg-shlibdeps (scripts/package).
make_sysroot() {
    local folder=$root/build/cross/apt packages archive file
    packages=$(cross_packages)
    [ "$(cat "$sysroot/made_of" 2>/dev/null)" = "$packages" ] && [ -e "$sysroot/DEBIAN/symbols" ] && return
    mkdir -p "$folder"/{lists/partial,archives/partial}
    : >"$folder/status" # nothing is installed there
    local apt=(apt-get -q -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o APT::Sandbox::User= -o Dir::Cache="$folder"
        -o Dir::State="$folder" -o Dir::State::lists="$folder/lists" -o Dir::State::status="$folder/status" -o Dir::Cache::archives="$folder/archives")
    "${apt[@]}" update || return
    # shellcheck disable=SC2086 # a list
    "${apt[@]}" install -y --download-only --no-install-recommends $packages || return
    rm -rf "$sysroot"
    mkdir -p "$sysroot/DEBIAN"
    for archive in "$folder"/archives/*.deb; do
        dpkg -x "$archive" "$sysroot" || return
        for file in symbols shlibs; do dpkg-deb -I "$archive" $file >>"$sysroot/DEBIAN/$file" 2>/dev/null; done # few have them
    done
    echo "$packages" >"$sysroot/made_of"
}

# Programs start programs (assay its workers), so the kernel must start those for Arm by qemu: binfmt_misc. Debian's
# qemu-user-static registers it where systemd runs; elsewhere root can, and it is undone in the end.
register_emulator() {
    local kernel=/proc/sys/fs/binfmt_misc magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
    local mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
    export QEMU_LD_PREFIX=$root/$sysroot
    grep -qsx enabled $kernel/qemu-aarch64 && return
    [ "$(id -u)" -eq 0 ] || return
    if [ ! -e $kernel/register ]; then
        mount -t binfmt_misc binfmt_misc $kernel 2>/dev/null || return
        trap 'umount /proc/sys/fs/binfmt_misc' EXIT
    fi
    # F: opened now, so that it is found in every mount namespace.
    printf '%s' ":qemu-aarch64:M::$magic:$mask:$(command -v qemu-aarch64-static):F" >$kernel/register || return
    # shellcheck disable=SC2064 # what the trap was is known now
    trap "echo -1 >$kernel/qemu-aarch64; $(trap -p EXIT | sed "s/^trap -- '//; s/' EXIT\$//")" EXIT
}

cross_build() { # targets...
    [ -e build/cross/release/build.ninja ] ||
        cmake -S . -B build/cross/release -G Ninja -DCMAKE_BUILD_TYPE=Release -DASSAY_UNITY=ON -DASSAY_CUDA=OFF -DASSAY_HIP=OFF \
            -DCMAKE_TOOLCHAIN_FILE="$root/scripts/cmake/aarch64.cmake" -DASSAY_SYSROOT="$root/$sysroot" || return
    ninja -C build/cross/release "$@"
}

# The programs themselves: a run of one short case, with its workers, and its report.
cross_run() {
    local out
    out=$(mktemp -d)
    build/cross/release/bin/assay list >/dev/null && build/cross/release/bin/assay describe memory.stream >/dev/null &&
        build/cross/release/bin/assay run latency.syscall --budget 10s --patience 0 --out "$out" &&
        build/cross/release/bin/assay report "$out" --md - | grep -q latency.syscall
    local code=$?
    rm -rf "$out"
    return $code
}

test_cross() {
    # Traffic: qemu hands out the first word of TCP_INFO alone. Huge pages: qemu-user maps none. oneDNN: of Debian 12, it has
    # reference loops alone for Arm, which its benchmarks refuse. Comparisons in CSV and JSON: all digits of p, whose last one
    # differs, because Boost calculates in long double, which has 113 bits there.
    export GTEST_FILTER='-Traffic.CountsBothEndsOfAConnectionOfThisProcess:*RunsEveryChoiceThatApplies/host_memory_tlb'
    GTEST_FILTER+=':CompareGolden.Csv:CompareGolden.Json:*RunsEveryChoiceThatApplies/host_memory_*latency:*RunsEveryChoiceThatApplies/host_memory_hierarchy:*RunsEveryChoiceThatApplies/host_latency_page_fault:*/onednn_*'
    local programs=(module_contract unit_benchmarks unit_base) cpu
    local of_reports=(golden_reports) # the same on every processor
    step "sysroot" make_sysroot
    register_emulator || {
        say "Programs for Arm do not start here: binfmt_misc has no qemu-aarch64, and this is not root, or a container that may"
        say "not register it. On the machine itself: apt-get install qemu-user-static, or docker run --privileged --rm tonistiigi/binfmt"
        exit 4
    }
    step "build for Arm" cross_build assay assay-report assay_module_{host,openblas,onednn,fftw,external} "${programs[@]}" "${of_reports[@]}"
    # Neon alone, as Neoverse N1 and AmpereOne have; then SVE as well.
    for cpu in cortex-a72 max; do
        export QEMU_CPU=$cpu
        # Emulated vectors of any length take minutes for what Neon's take seconds for: all calls of all cases are compared above.
        [ $cpu = max ] && GTEST_FILTER+=':Digests.*'
        tests "Arm ($cpu)" cross/release -R "^($(IFS='|'; echo "${programs[*]}"))\\."
        step "a run on Arm ($cpu)" cross_run
    done
    tests "reports on Arm" cross/release -R "^($(IFS='|'; echo "${of_reports[*]}"))\."
    step "a package for Arm" tests/package/cpack_test.sh build/cross/release build/cross/package
    say "          left out: modules of MPI, UCX and libfabric (their launcher is of this machine) and of devices; browsers, LibreOffice"
    say "          (not in the sysroot); huge pages, TCP_INFO, timing (qemu has none); oneDNN (Debian's has reference loops for Arm);"
    say "          p in all digits (long double is longer there); other tests of reports (they know no processor)"
}
