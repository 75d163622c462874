// SPDX-License-Identifier: Apache-2.0
//
// What the command is asked for, and a line of its table.

#pragma once

#include "turns.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::peers {

struct Options {
    std::filesystem::path build; ///< holds bin/, lib/assay/ and tests/
    Plan plan;
    int threads = 0; ///< cores that both sides use
    long gemm_size = 2048;
    std::string module(const std::string& name) const {
        return (build / "lib/assay" / (name + ".so")).string();
    }
    std::string peer(const std::string& name) const { return (build / "tests" / name).string(); }
};

struct Row {
    std::string name;
    std::string unit; ///< "" for a ratio
    double value = 0;
    std::optional<double> low; ///< 95% interval
    std::optional<double> high;
    std::optional<double> at_least; ///< limit for the lower end of the interval
    std::optional<double> at_most;  ///< limit for the upper end
    std::string note;
    std::string not_measured; ///< why there is no value: the peer is not installed
    Ratio of{};               ///< the pairs behind it

    bool met() const;
};
/// Ratio of the peer's time to ours: 1 is equal, above 1 we are faster.
Row row_of(std::string name, const Ratio& ratio, std::optional<double> at_least,
           std::string note = {});

std::vector<Row> compare_triad(const Options& options);
std::vector<Row> compare_gemm(const Options& options);
std::vector<Row> compare_workload(const Options& options);
std::vector<Row> compare_fft(const Options& options);
std::vector<Row> compare_stencil(const Options& options);
std::vector<Row> compare_allreduce(const Options& options);
std::vector<Row> compare_network(const Options& options);
std::vector<Row> compare_md(const Options& options);

} // namespace assay::peers
