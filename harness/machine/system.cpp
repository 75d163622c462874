// SPDX-License-Identifier: Apache-2.0
#include "machine/system.hpp"

#include "base/text.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <system_error>

#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif

namespace assay::machine {
namespace {

/// Placeholders that vendors leave in fields, in lower case.
constexpr std::array<std::string_view, 25> placeholders = {
    "default string",
    "system product name",
    "system manufacturer",
    "system serial number",
    "base board serial number",
    "chassis serial number",
    "not specified",
    "not applicable",
    "unknown",
    "none",
    "n/a",
    "o.e.m.",
    "oem",
    "empty",
    "invalid",
    "default",
    "undefined",
    "not available",
    "product name",
    "system version",
    "board name",
    "board vendor",
    "0123456789",
    "123456789",
    "1234567890",
};

/// "To Be Filled By O.E.M." in all its spellings, and fields of one character only: "00000000", "........".
bool is_unfilled(std::string_view text) {
    constexpr std::size_t few = 3; // a version may be "1"
    return std::ranges::find(placeholders, text) != placeholders.end() ||
           text.starts_with("to be filled") || text.find_first_not_of("0.-x ") == text.npos ||
           (text.size() >= few && text.find_first_not_of(text.front()) == text.npos);
}

} // namespace

std::string dmi_field(const Files& files, std::string_view name) {
    std::string value = files.line(std::filesystem::path{"/sys/class/dmi/id"} / name);
    return is_unfilled(lower(value)) ? std::string{} : value;
}

Firmware read_firmware(const Files& files) {
    Firmware firmware{.vendor = dmi_field(files, "sys_vendor"),
                      .product = dmi_field(files, "product_name"),
                      .bios = fmt::format("{} {}", dmi_field(files, "bios_vendor"),
                                          dmi_field(files, "bios_version")),
                      .chassis_tag = dmi_field(files, "chassis_asset_tag")};
    if (firmware.vendor.empty()) firmware.vendor = dmi_field(files, "board_vendor");
    if (firmware.product.empty()) firmware.product = dmi_field(files, "board_name");
    if (firmware.product.empty()) firmware.product = files.line("/proc/device-tree/model");
    return firmware;
}

std::string system_name(const Firmware& firmware) {
    if (firmware.vendor.empty() || firmware.product.starts_with(firmware.vendor))
        return firmware.product;
    return firmware.product.empty() ? firmware.vendor
                                    : fmt::format("{} {}", firmware.vendor, firmware.product);
}

std::string operating_system(const Files& files) {
    for (const char* const path : {"/etc/os-release", "/usr/lib/os-release"}) {
        const std::string text = files.text(path);
        std::string_view name = value_of(text, "PRETTY_NAME", '=');
        if (name.size() >= 2 && (name.front() == '"' || name.front() == '\'') &&
            name.back() == name.front())
            name = name.substr(1, name.size() - 2);
        if (!name.empty()) return tidied(name);
    }
    return {};
}

std::string kernel_release(const Files& files) { return files.line("/proc/sys/kernel/osrelease"); }

std::string architecture() {
    struct utsname names{};
    return ::uname(&names) == 0 ? std::string{names.machine} : std::string{};
}

std::string boot_identity() {
    std::string boot;
    if (std::ifstream file{"/proc/sys/kernel/random/boot_id"}; file) std::getline(file, boot);
    std::error_code error;
    return boot + ' ' + std::filesystem::read_symlink("/proc/self/ns/net", error).string();
}

std::string host_name() {
    std::array<char, 256> name{};
    // The last byte stays zero: a longer name is cut without one.
    return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string{name.data()}
                                                            : std::string{};
}

bool is_node_name(std::string_view text) {
    constexpr std::size_t longest = 253; // of a host, RFC 1035
    return !text.empty() && text.size() <= longest &&
           std::ranges::all_of(text, [](char c) { return is_word(c, "_-.:"); });
}

record::NamedList own_software() {
    record::NamedList software;
#if defined(__GLIBC__)
    software.push_back({.name = "libc", .value = std::string{"glibc "} + ::gnu_get_libc_version()});
#endif
#if defined(__clang__)
    software.push_back({.name = "compiler", .value = std::string{__VERSION__}});
#elif defined(__GNUC__)
    software.push_back({.name = "compiler", .value = std::string{"GCC "} + __VERSION__});
#endif
    return software;
}

// --- clock ---------------------------------------------------------------------------------------

namespace {

constexpr std::int64_t adds_per_block = 256;
// 512 Ki additions: 0.15 ms at 3.5 GHz, 5000 times what reading the clock costs. Long enough to be
// precise, short enough that some repeats meet no interrupt (a tick every 1 to 10 ms).
constexpr std::int64_t chain = 2048 * adds_per_block;
constexpr int repeats = 12;

/// One block of additions, each waiting for the one before. Register plus register: additions of a
/// constant are done ahead, several per cycle, by recent cores. In assembly, so that no optimiser
/// merges them and no missing optimiser stores them to memory.
inline void add_block(std::uint64_t& sum, std::uint64_t step) {
#if defined(__x86_64__)
    asm volatile(".rept 256\n\tadd %1, %0\n\t.endr" : "+r"(sum) : "r"(step) : "cc");
#elif defined(__aarch64__)
    asm volatile(".rept 256\n\tadd %0, %0, %1\n\t.endr" : "+r"(sum) : "r"(step));
#else
    for (std::int64_t i = 0; i < adds_per_block; i += 16) {
#pragma GCC unroll 16
        for (int j = 0; j < 16; ++j) {
            sum += step;
            asm volatile("" : "+r"(sum));
        }
    }
#endif
}

/// Binds the calling thread to its present CPU, and releases it again.
class StayHere {
public:
    StayHere() {
        CPU_ZERO(&before_);
        const int cpu = ::sched_getcpu();
        // Fails on machines with more CPUs than the set holds; there the thread is not bound.
        if (cpu < 0 || cpu >= CPU_SETSIZE || ::sched_getaffinity(0, sizeof before_, &before_) != 0)
            return;
        cpu_set_t here;
        CPU_ZERO(&here);
        CPU_SET(cpu, &here);
        bound_ = ::sched_setaffinity(0, sizeof here, &here) == 0;
    }
    ~StayHere() {
        if (bound_) ::sched_setaffinity(0, sizeof before_, &before_);
    }
    StayHere(const StayHere&) = delete;
    StayHere& operator=(const StayHere&) = delete;
    StayHere(StayHere&&) = delete;
    StayHere& operator=(StayHere&&) = delete;

private:
    cpu_set_t before_{};
    bool bound_ = false;
};

/// Seconds for this many dependent additions, rounded up to a whole block: one a cycle without interrupts.
double chain_seconds(std::int64_t additions) {
    std::uint64_t sum = 0;
    // The optimiser must not know the value either.
    std::uint64_t step = 1;
    asm volatile("" : "+r"(step));
    const auto begin = std::chrono::steady_clock::now();
    for (std::int64_t done = 0; done < additions; done += adds_per_block) add_block(sum, step);
    const auto end = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(end - begin).count();
}

} // namespace

double measure_core_clock() {
    const StayHere here;
    double shortest = chain_seconds(chain);
    // The shortest: interrupts and neighbours only make it longer.
    for (int i = 1; i < repeats; ++i) shortest = std::min(shortest, chain_seconds(chain));
    return static_cast<double>(chain) / shortest;
}

double measure_steady_core_clock() {
    double last = measure_core_clock();
    double best = last;
    for (int i = 1; i < 10; ++i) {
        const double next = measure_core_clock();
        best = std::max(best, next);
        if (std::abs(next - last) < 0.005 * last) break;
        last = next;
    }
    return best;
}

} // namespace assay::machine
