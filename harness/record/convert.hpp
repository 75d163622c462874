// SPDX-License-Identifier: Apache-2.0
//
// Records to JSON values: what the journal stores and what workers send; read back by json::read<T>.
// Reading reports the wrong key; unknown keys are ignored, except in `place`. In a NamedList numbers that
// are not finite are left out, and null is read as absent.

#pragma once

#include "base/result.hpp"
#include "json/codec.hpp"
#include "record/layout.hpp"
#include "record/model.hpp"

#include <filesystem>
#include <string>

namespace assay::record {

template <class T>
json::Value to_json(const T& record) {
    return json::encode(record);
}
/// The whole document of run.json, its schema included.
json::Value to_json(const Run& run);

/// Text of run.json, with numbers that read back exactly.
std::string to_text(const Run& run);
/// Atomically.
Result<void> write_run(const std::filesystem::path& path, const Run& run);

} // namespace assay::record
