// SPDX-License-Identifier: Apache-2.0
//
// The sidecar of `--raw`: seconds per call of every batch, one line of JSON for each measured step,
// {"case": index in the plan, "replica": from 0, "seconds": [...]}. Where a resumed run measured a step
// twice, the last line counts.

#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <filesystem>
#include <vector>

namespace assay::harness {

class Samples {
public:
    static Result<Samples> open(const std::filesystem::path& path);
    Samples(Samples&& other) noexcept;
    Samples& operator=(Samples&& other) noexcept;
    Samples(const Samples&) = delete;
    Samples& operator=(const Samples&) = delete;
    ~Samples();

    /// A whole line or none.
    Result<void> add(std::size_t case_index, int replica, const std::vector<double>& seconds);

private:
    Samples(std::filesystem::path path, int descriptor);
    std::filesystem::path path_;
    int descriptor_;
};

} // namespace assay::harness
