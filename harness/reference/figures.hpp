// SPDX-License-Identifier: Apache-2.0
//
// Values of data sheets, and where they come from.

#pragma once

#include "json/json.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay::reference {

/// By precision: fp64 fp32 tf32 fp16 bf16 fp8 int8 fp4, dense; a fused multiply-add is two operations.
using ByPrecision = std::map<std::string, double, std::less<>>;

/// The source of a value, and its reliability: "retrieved", "recalled", ...
struct Origin {
    std::string source; ///< empty: the file does not say
    std::string sure;
    std::string checked{}; ///< the day on which the source was read: "2026-01-31"; may be empty
    std::string file{};    ///< that has the value
};
/// By the path of the value: "peaks.tensor.bf16".
using Origins = std::map<std::string, Origin, std::less<>>;

/// A value as its file has it: a number or a text.
struct Figure {
    json::Value value;
    Origin origin;
};
/// Another source's value of a figure, or that of a file replaced by a later one.
struct OtherFigure {
    std::string of; ///< its path
    json::Value value;
    Origin origin;
    std::string why; ///< may be empty
};
/// Everything that the files say of one entry.
struct Sheet {
    std::string id;
    std::string name;               ///< for people
    std::vector<std::string> names; ///< as drivers and kernels report it
    std::map<std::string, Figure, std::less<>> figures;
    std::vector<OtherFigure> conflicts;
    std::vector<OtherFigure> replaced; ///< by files that were laid over
    std::string note;
    std::string file; ///< the last that says something of it
};
/// `name`, with the source of a figure in brackets where the files say it.
std::string with_origin(const std::string& name, const Sheet& sheet, std::string_view path);

} // namespace assay::reference
