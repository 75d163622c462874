# SPDX-License-Identifier: Apache-2.0
# Shared by scripts/run and scripts/test: finds out what is missing, installs it, builds. Sourced, not
# run. What is looked for is the command or header itself, not a package's name, because machines come
# set up in many ways; the name is used only to install what was not found.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

say() { printf '%s\n' "$*" >&2; }

missing=()
need_command() { # command, package
    command -v "$1" >/dev/null 2>&1 || missing+=("$2")
}
need_header() { # header, package, [folder to look in as well]
    local folder more=${CPATH:-}
    for folder in /usr/include /usr/local/include "/usr/include/$(uname -m)-linux-gnu" ${more//:/ } ${3:-}; do
        [ -e "$folder/$1" ] && return
    done
    missing+=("$2")
}

need_to_build() {
    need_command g++ g++
    need_command cmake cmake
    need_command ninja ninja-build
    need_command pkg-config pkg-config
    need_header benchmark/benchmark.h libbenchmark-dev
    need_header CLI/CLI.hpp libcli11-dev
    need_header nlohmann/json.hpp nlohmann-json3-dev
    need_header simdjson.h libsimdjson-dev
    need_header valijson/validator.hpp libvalijson-dev
    need_header fmt/format.h libfmt-dev
    need_header tl/expected.hpp libexpected-dev
    need_header hwloc.h libhwloc-dev
    need_header xlsxwriter.h libxlsxwriter-dev
    need_header zlib.h zlib1g-dev # which that links
    need_header boost/math/distributions/students_t.hpp libboost-math-dev
    need_header hwy/highway.h libhwy-dev
    need_header dnnl.hpp libdnnl-dev
    need_header fftw3.h libfftw3-dev
    need_header openblas-openmp/cblas.h libopenblas-openmp-dev # not the other build of it
    need_header mpi.h libopenmpi-dev "/usr/lib/$(uname -m)-linux-gnu/openmpi/include"
    need_command mpirun openmpi-bin
    need_header ucp/api/ucp.h libucx-dev
    need_header rdma/fabric.h libfabric-dev
    need_header re2/re2.h libre2-dev
    need_command node nodejs # these two for the interactive page alone
    need_command npm npm
}
need_to_test() {
    need_header gtest/gtest.h libgtest-dev
    need_header gmock/gmock.h libgmock-dev
    need_header sqlite3.h libsqlite3-dev
    need_command chromium chromium
    need_command soffice libreoffice-calc-nogui # calculates workbooks; 52 packages, 82 MB to fetch, 260 MB on disk
    need_command fish fish # these two read their completion
    need_command zsh zsh
    need_command groff groff-base # reads manual pages
    need_command clang-format-19 clang-format-19
    need_command ld.lld-19 lld-19 # links in a tenth of the time
    need_command clang++-19 clang-19 # and what its sanitizers and OpenMP need
    need_command fio fio # these four are small programs that the module external starts
    need_command iperf3 iperf3
    need_command sysbench sysbench
    need_command stressapptest stressapptest
    /usr/bin/python3 -c 'import prometheus_client' 2>/dev/null || missing+=(python3-prometheus-client) # reads OpenMetrics
    compgen -G '/usr/lib/llvm-19/lib/clang/*/lib/linux/libclang_rt.asan-*' >/dev/null || missing+=(libclang-rt-19-dev)
    [ -e /usr/lib/llvm-19/lib/libomp.so ] || missing+=(libomp-19-dev)
}
need_to_test_all() {
    local PATH=$PATH:/usr/sbin:/sbin
    need_command lmp lammps # these are large
    need_header ../share/lammps/potentials/Cu_u3.eam lammps-data
    need_command gmx gromacs
    need_command hpcc hpcc
    need_command ffmpeg ffmpeg
    need_command ucx_perftest ucx-utils
    if apt-cache show clang-tidy-22 >/dev/null 2>&1; then need_command clang-tidy-22 clang-tidy-22; else need_command clang-tidy-19 clang-tidy-19; fi
    need_command clang-offload-bundler-19 clang-tools-19 # these three and lld compile the module hip
    need_header hip/hip_runtime.h libamdhip64-dev
    compgen -G '/usr/lib/*/amdgcn/bitcode/ockl.bc' >/dev/null || missing+=(rocm-device-libs)
    need_command ip iproute2 # these for hosts in namespaces
    need_command nsenter util-linux
    need_command sshd openssh-server
    need_command ssh openssh-client
    need_command slurmctld slurm-wlm
    need_command srun slurm-client
    need_command munged munge
    need_command clush clustershell
    need_command pdsh pdsh
    need_command debootstrap debootstrap # a bare system, for the package
}

need_to_cross() {
    need_command cmake cmake
    need_command ninja ninja-build
    need_command pkg-config pkg-config
    need_command aarch64-linux-gnu-g++ g++-aarch64-linux-gnu
    need_command qemu-aarch64-static qemu-user-static
}
# What the sysroot for Arm holds: the libraries above but those of MPI and of what needs it, whose launcher would be one of this machine.
cross_packages() (
    missing=(libc6-dev libstdc++-12-dev libgomp1 libgtest-dev libgmock-dev)
    need_command() { :; }
    need_header() { [[ $2 =~ mpi|ucx|fabric ]] || missing+=("$2"); }
    need_to_build
    echo "${missing[@]}"
)

# Installs what was found missing; without apt or the right to use it, prints the exact list, exit 4.
install_missing() {
    [ ${#missing[@]} -eq 0 ] && return
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null 2>&1; then give_up; fi
        as_root=(sudo)
    fi
    command -v apt-get >/dev/null 2>&1 || give_up
    say "installing: ${missing[*]}"
    "${as_root[@]}" apt-get update -q >/dev/null || true
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" >&2 || give_up
    missing=()
}
give_up() {
    say "These packages are needed and could not be installed from here:"
    say "    apt-get install ${missing[*]}"
    say "Install them (names are those of Debian 12) and run this again."
    exit 4
}

# Builds a preset; silent when there is nothing to do.
build() { # preset, [targets...]
    local preset=$1
    shift
    if [ ! -e "build/$preset/build.ninja" ]; then
        local said
        said=$(cmake --preset "$preset" 2>&1) || {
            say "$said"
            return 1
        }
    fi
    if [ -t 2 ]; then
        ninja -C "build/$preset" "$@" >&2
    else
        NINJA_STATUS='[%f/%t %e] ' ninja -C "build/$preset" "$@" 2>&1 | ten_lines
        return "${PIPESTATUS[0]}"
    fi
}
# ninja's progress where no terminal overwrites it: a line for every tenth of the steps, unless it took less than five
# seconds. What is not progress passes.
ten_lines() {
    local line part seconds next=10 shown=0
    while IFS= read -r line; do
        if [[ $line =~ ^\[([0-9]+)/([0-9]+)\ ([0-9]+) ]]; then
            part=$((100 * BASH_REMATCH[1] / BASH_REMATCH[2])) seconds=${BASH_REMATCH[3]}
            if [ "$part" -ge "$next" ] && [ "$seconds" -ge $((shown + 5)) ]; then
                say "  built $part% in $seconds s, about $((seconds * (100 - part) / part)) s more"
                next=$((part / 10 * 10 + 10)) shown=$seconds
            fi
        elif [[ $line != 'ninja: Entering'* && $line != 'ninja: no work'* ]]; then
            say "$line"
        fi
    done
}
