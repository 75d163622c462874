// SPDX-License-Identifier: Apache-2.0
//
// Facts of the machine for benchmarks. They come from the program (harness/machine); modules do not
// look for themselves, so all of them see the same machine.

#pragma once

#include "assay/module.h"

#include <cmath>
#include <cstdint>
#include <string_view>

namespace assay {

/// Symbols for machine-dependent numbers: results of different machines share the parameter value and
/// stay comparable.
enum class Symbol : std::uint8_t {
    none,         // a plain number
    one,          // threads: one core
    all,          // threads, ranks: every core this process may use, one per physical core
    beyond_cache, // bytes: at least four times the sum of the last-level caches
    per_socket,   // ranks: one for each processor package of each machine
    per_node,     // ranks: one for each machine
    l1,           // bytes: fits into the L1 caches of a device
    l2,           // bytes: fits into its L2 cache
};

/// Bytes of `beyond_cache`: four times the last-level caches; 64 MiB where those are unknown or
/// smaller.
constexpr std::int64_t beyond_cache_bytes(std::int64_t last_level) {
    constexpr std::int64_t least = std::int64_t{64} << 20U;
    return 4 * last_level < least ? least : 4 * last_level;
}

/// A number or a symbol.
struct Symbolic {
    std::int64_t number = 0;
    Symbol symbol = Symbol::none;

    constexpr Symbolic() = default;
    // Implicit, so that axes read as {one, all, 4}.
    constexpr Symbolic(std::int64_t value) : number{value} {}
    constexpr Symbolic(Symbol name) : symbol{name} {}
};

/// Facts by name. Unknown: 0, or "" for texts.
///
///   cores                physical cores this process may use (affinity, cgroup quota)
///   threads              hardware threads this process may use
///   cache.last_level     bytes, sum of the last-level caches those cores sit on
///   cache.l1d cache.l2   bytes, of one core
///   memory.total         bytes, the smaller of RAM and cgroup limit
///   memory.available     bytes that can be used now without swapping
///   numa.nodes           count
///   sockets              processor packages
///   job.ranks            processes of the team
///   job.hosts            hosts of the team; 0 if only this one
///   isa                  text: the instruction sets, blank-separated, /proc/cpuinfo's names
///   cpu.model            text
///   state.folder         text: folder for files that a module keeps between runs on this machine,
///                        such as FFTW wisdom; "": none
class Machine {
public:
    explicit Machine(const assay_services* services) : services_{services} {}

    double number(const char* name) const {
        const double value = services_->fact(services_->context, name);
        return std::isnan(value) ? 0.0 : value;
    }
    std::string_view text(const char* name) const {
        const char* value = services_->fact_text(services_->context, name);
        return value == nullptr ? std::string_view{} : std::string_view{value};
    }
    std::int64_t count(const char* name) const { return static_cast<std::int64_t>(number(name)); }

    std::int64_t cores() const { return count("cores") > 0 ? count("cores") : 1; }
    std::int64_t memory_available() const { return count("memory.available"); }

    /// Whether the CPU has this instruction set. Names of /proc/cpuinfo: avx2, fma, avx512f, asimd.
    bool has(std::string_view isa) const {
        std::string_view list = text("isa");
        while (!list.empty()) {
            const auto end = list.find(' ');
            if (list.substr(0, end) == isa) return true;
            if (end == std::string_view::npos) return false;
            list.remove_prefix(end + 1);
        }
        return false;
    }

    /// Threads or ranks.
    std::int64_t workers(Symbolic wanted) const {
        switch (wanted.symbol) {
        case Symbol::one:
        case Symbol::per_node:
            return 1;
        case Symbol::per_socket:
            return count("sockets") > 0 ? count("sockets") : 1;
        case Symbol::all:
        case Symbol::beyond_cache:
        case Symbol::l1:
        case Symbol::l2:
            return cores();
        case Symbol::none:
            break;
        }
        return wanted.number;
    }
    /// Bytes over all arrays of a benchmark.
    std::int64_t bytes(Symbolic wanted) const {
        if (wanted.symbol == Symbol::none) return wanted.number;
        return beyond_cache_bytes(count("cache.last_level"));
    }

private:
    const assay_services* services_;
};

} // namespace assay
