// SPDX-License-Identifier: Apache-2.0
//
// Records to JSON values and back: what the journal stores and what workers send. Reading says which
// key is wrong; keys that are not known are ignored, except in `place`, which identifies a series.
// Numbers that are not finite are written as null. In a NamedList such an entry is left out, and null
// is read as absent.

#pragma once

#include "base/result.hpp"
#include "json/json.hpp"
#include "record/model.hpp"

#include <string_view>

namespace assay::record {

json::Value to_json(const NamedList& list);
json::Value to_json(const Place& place);
json::Value to_json(const Verification& verification);
json::Value to_json(const Metric& metric);
json::Value to_json(const Ceiling& ceiling);
json::Value to_json(const Telemetry& telemetry);
json::Value to_json(const Replica& replica);
json::Value to_json(const Case& c);
json::Value to_json(const Machine& machine);
json::Value to_json(const Pairing& pairing);
/// The whole document of run.json, its schema included.
json::Value to_json(const Run& run);

/// `source` names the text in messages: "journal.ndjson:7", "message of a worker".
Result<NamedList> named_list_from(const json::Value& value, std::string_view source);
Result<Place> place_from(const json::Value& value, std::string_view source);
Result<Verification> verification_from(const json::Value& value, std::string_view source);
Result<Telemetry> telemetry_from(const json::Value& value, std::string_view source);
Result<Replica> replica_from(const json::Value& value, std::string_view source);
Result<Case> case_from(const json::Value& value, std::string_view source);
Result<Machine> machine_from(const json::Value& value, std::string_view source);
Result<Pairing> pairing_from(const json::Value& value, std::string_view source);

} // namespace assay::record
