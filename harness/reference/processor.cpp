// SPDX-License-Identifier: Apache-2.0
#include "reference/processor.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace assay::reference {
namespace {

bool has(const record::Machine& machine, std::string_view feature) {
    return std::ranges::find(machine.isa, feature) != machine.isa.end();
}

/// The feature that instructions for a precision need; "": that of all others of the instruction set.
struct Instructions {
    std::string_view isa;
    std::string_view precision;
    std::string_view feature;
    bool matrices = false;
};
constexpr std::array instructions{
    Instructions{.isa = "avx2", .precision = "", .feature = "avx2"},
    Instructions{.isa = "avx512", .precision = "fp16", .feature = "avx512_fp16"},
    Instructions{.isa = "avx512", .precision = "bf16", .feature = "avx512_bf16"},
    Instructions{.isa = "avx512", .precision = "int8", .feature = "avx512_vnni"},
    Instructions{.isa = "avx512", .precision = "", .feature = "avx512f"},
    Instructions{.isa = "amx", .precision = "fp16", .feature = "amx_fp16", .matrices = true},
    Instructions{.isa = "amx", .precision = "bf16", .feature = "amx_bf16", .matrices = true},
    Instructions{.isa = "amx", .precision = "int8", .feature = "amx_int8", .matrices = true},
    Instructions{.isa = "neon", .precision = "fp16", .feature = "asimdhp"},
    Instructions{.isa = "neon", .precision = "bf16", .feature = "bf16"},
    Instructions{.isa = "neon", .precision = "int8", .feature = "asimddp"},
    Instructions{.isa = "neon", .precision = "", .feature = "asimd"},
    Instructions{.isa = "sve", .precision = "bf16", .feature = "bf16"},
    Instructions{.isa = "sve", .precision = "int8", .feature = "i8mm"},
    Instructions{.isa = "sve", .precision = "", .feature = "sve"},
};

bool is_this(const ProcessorEntry& entry, const record::Machine& machine) {
    const auto is_there = [&](const auto& feature) { return has(machine, feature); };
    return entry.core.vendor == machine.cpu_vendor && std::ranges::all_of(entry.needs, is_there) &&
           std::ranges::none_of(entry.lacks, is_there);
}

std::size_t letters_of(std::string_view pattern) {
    return static_cast<std::size_t>(
        std::ranges::count_if(pattern, [](char letter) { return letter != '*' && letter != '?'; }));
}

} // namespace

const ProcessorEntry* find_processor(const std::vector<ProcessorEntry>& processors,
                                     const record::Machine& machine) {
    const ProcessorEntry* best = nullptr;
    std::size_t most = 0;
    for (const auto& entry : processors) {
        if (!is_this(entry, machine)) continue;
        for (const auto& name : entry.names)
            if (letters_of(name) > most &&
                fnmatch(name.c_str(), machine.cpu_model.c_str(), 0) == 0) {
                best = &entry;
                most = letters_of(name);
            }
    }
    return best;
}

std::optional<CoreRate> core_rate(const ProcessorEntry& entry, const record::Machine& machine,
                                  std::string_view precision, bool matrices, std::string_view isa) {
    std::optional<CoreRate> best;
    for (const auto& [name, rates] : entry.core.rates) {
        const auto rate = rates.find(precision);
        if (rate == rates.end() || (!isa.empty() && isa != name)) continue;
        const auto known = std::ranges::find_if(instructions, [&](const Instructions& one) {
            return one.isa == name && (one.precision == precision || one.precision.empty());
        });
        if (known == instructions.end() || !has(machine, known->feature) ||
            (known->matrices && !matrices))
            continue;
        if (!best || rate->second > best->per_clock)
            best = CoreRate{.per_clock = rate->second, .isa = name};
    }
    return best;
}

} // namespace assay::reference
