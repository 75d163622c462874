// SPDX-License-Identifier: Apache-2.0
//
// Names of benchmarks as people write them: gemm.square, gemm.*, gemm, gemm.square[openblas].

#pragma once

#include "base/result.hpp"
#include "registry/catalogue.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace assay::harness {

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

} // namespace assay::harness
