// SPDX-License-Identifier: Apache-2.0
#include "record/convert.hpp"

#include "json/fields.hpp"
#include "json/words.hpp"
#include "record/layout.hpp"

#include <fmt/format.h>

#include <cmath>

namespace assay::record {
namespace {

using json::Object;

// --- to JSON ---------------------------------------------------------------------------------------

json::Value encode(double number) {
    return std::isfinite(number) ? json::Value(number) : json::Value(nullptr);
}
json::Value encode(Status status) { return to_string(status); }
json::Value encode(IntervalScope scope) { return to_string(scope); }
json::Value encode(CeilingKind kind) { return to_string(kind); }
json::Value encode(const NamedList& list) {
    json::Value object = json::Value::object();
    for (const Named& named : list) {
        const auto* number = std::get_if<double>(&named.value);
        if (number != nullptr && !std::isfinite(*number)) continue;
        std::visit([&](const auto& value) { object[named.name] = value; }, named.value);
    }
    return object;
}
template <class T>
    requires std::integral<T> || std::same_as<T, std::string>
json::Value encode(const T& value) {
    return value;
}
template <Record T>
json::Value encode(const T& record);
template <class T>
json::Value encode(const std::optional<T>& value) {
    return value ? encode(*value) : json::Value(nullptr);
}
template <class T>
json::Value encode(const std::vector<T>& list) {
    json::Value array = json::Value::array();
    for (const T& item : list) array.push_back(encode(item));
    return array;
}
template <Record T>
json::Value encode(const T& record) {
    json::Value object = json::Value::object();
    each_field(
        [&](const char* key, const auto& member) {
            if constexpr (is_sparse<std::decay_t<decltype(member)>>)
                if (member.empty()) return;
            object[key] = encode(member);
        },
        record);
    return object;
}

// --- from JSON -------------------------------------------------------------------------------------

/// Reads members that json::Object knows how to read.
template <class T>
void decode(const Object& object, std::string_view key, T& out) {
    object.read(key, out);
}

template <class Enum, class From>
void decode_name(const Object& object, std::string_view key, Enum& out, From from,
                 std::string_view expected) {
    std::string text;
    object.read(key, text);
    if (object.failed()) return;
    if (const auto value = from(text))
        out = *value;
    else
        object.expected(key, expected);
}
void decode(const Object& object, std::string_view key, Status& out) {
    decode_name(object, key, out, status_from, "the status of a case (ok, unstable, ...)");
}
void decode(const Object& object, std::string_view key, IntervalScope& out) {
    decode_name(object, key, out, interval_scope_from, "none, within_process or between_replicas");
}
void decode(const Object& object, std::string_view key, CeilingKind& out) {
    decode_name(object, key, out, ceiling_kind_from, "none, measured or datasheet");
}

std::optional<Value> plain_value(const json::Value& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_boolean()) return value.get<bool>();
    if (value.is_number_unsigned() && !std::in_range<std::int64_t>(value.get<std::uint64_t>()))
        return {};
    if (value.is_number_integer()) return value.get<std::int64_t>();
    if (value.is_number()) return value.get<double>();
    return {};
}

void decode(const Object& object, std::string_view key, std::vector<std::optional<double>>& out) {
    constexpr std::string_view expected = "an array of numbers and nulls";
    out.clear();
    const json::Value* list = object.find(key);
    if (list == nullptr || !list->is_array()) return object.expected(key, expected);
    for (const auto& value : *list) {
        if (!value.is_null() && !value.is_number()) return object.expected(key, expected);
        out.push_back(value.is_null() ? std::nullopt : std::optional{value.get<double>()});
    }
}

void decode_list(const Object& object, NamedList& out) {
    NamedList list;
    for (const auto& item : object.value().items()) {
        if (item.value().is_null()) continue;
        auto value = plain_value(item.value());
        if (!value)
            return object.expected(item.key(), "a string, a 64-bit integer, a number or a boolean");
        list.push_back({item.key(), *std::move(value)});
    }
    out = std::move(list);
}
void decode(const Object& object, std::string_view key, NamedList& out) {
    const Object inner = object.object(key);
    if (!object.failed()) decode_list(inner, out);
}

template <Record T>
void decode_record(const Object& object, T& out);

template <Record T>
void decode(const Object& object, std::string_view key, T& out) {
    const Object inner = object.object(key);
    if (!object.failed()) decode_record(inner, out);
}
template <Record T>
void decode(const Object& object, std::string_view key, std::optional<T>& out) {
    const json::Value* value = object.find(key);
    out.reset();
    if (value == nullptr || value->is_null()) return;
    decode(object, key, out.emplace());
}
template <Record T>
void decode(const Object& object, std::string_view key, std::vector<T>& out) {
    out.clear();
    if (may_be_missing<std::vector<T>> && !object.has(key)) return;
    object.each(key, [&](const Object& item) { decode_record(item, out.emplace_back()); });
}

template <Record T>
void decode_record(const Object& object, T& out) {
    each_field(
        [&](const char* key, auto& member) {
            if (!object.failed()) decode(object, key, member);
        },
        out);
    if constexpr (is_closed<T>) object.only({"kind", "uuid", "index"});
}

template <class T, class Decode>
Result<T> read(const json::Value& value, std::string_view source, Decode decode_into) {
    json::Document document{value, source};
    T out{};
    const Object root = document.root();
    if (!document.failed()) decode_into(root, out);
    if (auto result = document.result(); !result) return tl::unexpected{std::move(result).error()};
    return out;
}
template <Record T>
Result<T> read_record(const json::Value& value, std::string_view source) {
    return read<T>(value, source, [](const Object& root, T& out) { decode_record(root, out); });
}

} // namespace

json::Value to_json(const NamedList& list) { return encode(list); }
json::Value to_json(const Place& place) { return encode(place); }
json::Value to_json(const Verification& verification) { return encode(verification); }
json::Value to_json(const Metric& metric) { return encode(metric); }
json::Value to_json(const Ceiling& ceiling) { return encode(ceiling); }
json::Value to_json(const Telemetry& telemetry) { return encode(telemetry); }
json::Value to_json(const Replica& replica) { return encode(replica); }
json::Value to_json(const Case& c) { return encode(c); }
json::Value to_json(const Machine& machine) { return encode(machine); }
json::Value to_json(const Pairing& pairing) { return encode(pairing); }
json::Value to_json(const Run& run) {
    json::Value document = json::Value::object();
    document["schema"] = schema_name;
    document["run"] = encode(run);
    document["machine"] = encode(run.machine);
    document["cases"] = encode(run.cases);
    return document;
}

Result<NamedList> named_list_from(const json::Value& value, std::string_view source) {
    return read<NamedList>(value, source, decode_list);
}
Result<Place> place_from(const json::Value& value, std::string_view source) {
    return read_record<Place>(value, source);
}
Result<Verification> verification_from(const json::Value& value, std::string_view source) {
    return read_record<Verification>(value, source);
}
Result<Telemetry> telemetry_from(const json::Value& value, std::string_view source) {
    return read_record<Telemetry>(value, source);
}
Result<Replica> replica_from(const json::Value& value, std::string_view source) {
    return read_record<Replica>(value, source);
}
Result<Case> case_from(const json::Value& value, std::string_view source) {
    return read_record<Case>(value, source);
}
Result<Machine> machine_from(const json::Value& value, std::string_view source) {
    return read_record<Machine>(value, source);
}
Result<Pairing> pairing_from(const json::Value& value, std::string_view source) {
    return read_record<Pairing>(value, source);
}

} // namespace assay::record
