// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "figures.hpp"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace assay::truth {

/// So many times two runs of one device, with the noise that is expected of its cases: how often is a difference called
/// where nothing differs, and how often is a planted one found? `file` is a run of the suite.
std::vector<Figure> devices(const std::filesystem::path& file, std::size_t tables,
                            std::uint64_t seed);

} // namespace assay::truth
