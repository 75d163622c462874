// SPDX-License-Identifier: Apache-2.0
//
// An item of --only or --exclude: which benchmarks, and of them which cases by the values of their parameters:
// "gemm.square size=512..4096 precision=fp64|fp32".

#pragma once

#include "base/result.hpp"
#include "plan/manifest.hpp"
#include "plan/plan.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::plan {

// Names of benchmarks as people write them: gemm.square, gemm.*, gemm, gemm.square[openblas].

class Selector {
public:
    static Result<Selector> parse(std::string_view text);

    /// By id, pattern (* and ?) or family, and by library if one is given.
    bool matches(const Manifest& module, const Benchmark& benchmark) const;
    /// Whether it may match several benchmarks.
    bool is_pattern() const;
    const std::string& id() const { return id_; }
    const std::string& library() const { return library_; }

private:
    std::string id_;
    std::string library_;
};

/// Every id in the catalogue, once.
std::vector<std::string> benchmark_ids(const Catalogue& catalogue);
std::vector<std::string> module_names(const Catalogue& catalogue);
/// "there is no benchmark x (did you mean ...)"
Error no_such_benchmark(const Catalogue& catalogue, std::string_view name);

class Filter {
public:
    /// A benchmark, a pattern, a family or a library, then conditions. `option` begins every message. A condition
    /// that no benchmark can meet is a usage error.
    static Result<Filter> parse(const Catalogue& catalogue, std::string_view option,
                                const std::string& text, const record::Machine& machine);

    bool matches(const Manifest& module, const Benchmark& benchmark) const {
        return selector_.matches(module, benchmark);
    }
    /// Whether each matching benchmark is meant with all its cases.
    bool is_whole() const { return conditions_.empty(); }
    /// Does the case have these values? One without the parameter does not.
    bool matches(const PlannedCase& planned) const;

private:
    /// Values between two ends; a symbol counts as what it stands for on this machine.
    struct Range {
        std::optional<double> low;
        std::optional<double> high;
    };
    struct Condition {
        std::string parameter;
        std::vector<record::Value> values;
        std::vector<Range> ranges;
    };
    explicit Filter(Selector selector, const record::Machine& machine)
        : selector_{std::move(selector)}, machine_{&machine} {}
    Result<Condition> condition(const Catalogue& catalogue, std::string_view word) const;
    Result<void> take(const Parameter& parameter, std::string_view word, Condition& into) const;
    bool meets(const Condition& condition, const record::Value& value) const;

    Selector selector_;
    const record::Machine* machine_;
    std::vector<Condition> conditions_{};
};

} // namespace assay::plan
