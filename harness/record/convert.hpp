// SPDX-License-Identifier: Apache-2.0
//
// Records to JSON values: what the journal stores and what workers send; read back by json::read<T>.
// Reading reports the wrong key; unknown keys are ignored, except in `place`. In a NamedList numbers that
// are not finite are left out, and null is read as absent.

#pragma once

#include "json/codec.hpp"
#include "record/layout.hpp"
#include "record/model.hpp"

namespace assay::record {

template <class T>
json::Value to_json(const T& record) {
    return json::encode(record);
}
/// The whole document of run.json, its schema included.
json::Value to_json(const Run& run);

} // namespace assay::record
