// SPDX-License-Identifier: Apache-2.0
//
// A catalogue made by hand, small enough to count its cases in one's head.

#pragma once

#include "plan/manifest.hpp"

#include <string>
#include <vector>

namespace assay::made {

inline plan::Parameter choice(std::string name, std::vector<std::string> names,
                              std::vector<record::Value> defaults) {
    return {.name = std::move(name),
            .kind = plan::ParameterKind::name,
            .help = "a choice",
            .names = std::move(names),
            .defaults = std::move(defaults)};
}

inline plan::Parameter count(std::string name, std::int64_t low, std::int64_t high,
                             std::vector<record::Value> defaults,
                             std::vector<std::string> symbols = {}) {
    return {.name = std::move(name),
            .kind = plan::ParameterKind::integer,
            .help = "an amount",
            .integer_low = low,
            .integer_high = high,
            .names = std::move(symbols),
            .defaults = std::move(defaults)};
}

inline plan::Parameter threads() {
    return count("threads", 1, 4096, {std::string{"one"}, std::string{"all"}}, {"one", "all"});
}

inline plan::Benchmark benchmark(std::string id, std::string headline,
                                 std::vector<plan::Parameter> parameters) {
    return {.id = std::move(id),
            .place = "host",
            .question = "How fast?",
            .method = "By the clock.",
            .caveats = "None known.",
            .headline = std::move(headline),
            .parameters = std::move(parameters)};
}

inline plan::Manifest manifest(const std::string& module, std::vector<plan::Benchmark> benchmarks) {
    return {.module = module,
            .build_id = "0123",
            .library = "/nowhere/" + module + ".so",
            .benchmarks = std::move(benchmarks)};
}

/// peak.fma (a ceiling: 2 precisions x 2 threads), gemm.square by two libraries (2 and 2 precisions x
/// 1 size x 2 threads each), memory.copy (4 MiB x 2 threads).
inline plan::Catalogue catalogue() {
    const std::string fp64{"fp64"};
    const std::string fp32{"fp32"};
    const std::string bf16{"bf16"};
    auto peak = benchmark("peak.fma", "flop_rate",
                          {choice("precision", {fp64, fp32}, {fp64, fp32}), threads()});
    peak.is_ceiling = true;
    const auto gemm = [&](std::vector<std::string> names, std::vector<record::Value> defaults) {
        auto b = benchmark("gemm.square", "flop_rate",
                           {choice("precision", std::move(names), std::move(defaults)),
                            count("size", 16, 65'536, {std::int64_t{2048}}), threads()});
        b.ceiling = "peak.fma";
        return b;
    };
    auto copy = benchmark(
        "memory.copy", "bandwidth",
        {count("bytes", 1024, std::int64_t{1} << 40, {std::int64_t{4} << 20}), threads()});
    plan::Catalogue all;
    all.modules = {manifest("host", {copy, peak}),
                   manifest("onednn", {gemm({fp32, bf16}, {fp32, bf16})}),
                   manifest("openblas", {gemm({fp64, fp32}, {fp64, fp32})})};
    return all;
}

/// memory.copy on the host; memory.stream on devices, one at a time; links.all, which sees all.
inline plan::Catalogue mixed_catalogue() {
    auto stream = benchmark("memory.stream", "bandwidth", {});
    auto links = benchmark("links.all", "bandwidth", {});
    stream.place = links.place = "cuda";
    links.all_devices = true;
    plan::Catalogue all;
    all.modules = {manifest("cuda", {links, stream}),
                   manifest("host", {benchmark("memory.copy", "bandwidth", {})})};
    return all;
}

} // namespace assay::made
