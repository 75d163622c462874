// SPDX-License-Identifier: Apache-2.0
//
// Structs as JSON objects and back, from one list of their fields (base/fields.hpp), in the order of that list.
// Members may be numbers, booleans, strings, enumerations (base/names.hpp), other such structs, and
// std::optional and std::vector of these. A type with a form of its own in JSON has encode_value and
// decode_value in its namespace.
//
// A member that is a std::optional may be missing or null; every other must be there, unless one of the
// traits below says otherwise. A namespace gives its types a trait by a declaration:
//
//     template <OneOf<Table, Ceiling> T>
//     void json_sparse(const T&);
//
// Numbers that are not finite are written as null.

#pragma once

#include "base/fields.hpp"
#include "base/names.hpp"
#include "json/fields.hpp"
#include "json/json.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace assay::json {

/// Has a list of its fields, so it is an object in JSON.
template <class T>
concept Record = requires(T& t) { each_field([](const char*, auto&) {}, t); };

/// A list or struct that is not written when empty, or an enumeration that is not written at its first value; it may
/// be missing.
template <class T>
inline constexpr bool is_sparse = requires(const T& t) { json_sparse(t); };

/// May the key of a member of this type be missing?
template <class T>
inline constexpr bool may_be_missing = is_sparse<T>;
template <class T>
inline constexpr bool may_be_missing<std::optional<T>> = true;

/// A struct in which an unknown key is an error.
template <class T>
inline constexpr bool is_closed = requires(const T& t) { json_closed(t); };

/// A struct of which any key may be missing: the member keeps its value. Members that are empty are not written.
template <class T>
inline constexpr bool is_lenient = requires(const T& t) { json_lenient(t); };

/// A value of a parameter or setting, with the type it has in JSON.
using Scalar = std::variant<std::int64_t, double, bool, std::string>;
inline constexpr std::string_view scalar_words =
    "a string, a 64-bit integer, a number or a boolean";
std::optional<Scalar> scalar_from(const Value& value);

template <class T>
bool is_empty(const T& member) {
    if constexpr (requires { member.empty(); })
        return member.empty();
    else
        return member == T{};
}

// --- to JSON ---------------------------------------------------------------------------------------

template <class T>
Value encode(const T& value);
template <class T>
Value encode(const std::optional<T>& value);
template <class T>
Value encode(const std::vector<T>& list);

inline Value encode(double number) {
    return std::isfinite(number) ? Value(number) : Value(nullptr);
}
inline Value encode(const Scalar& value) {
    return std::visit([](const auto& held) { return encode(held); }, value);
}
template <class T>
Value encode(const std::optional<T>& value) {
    return value ? encode(*value) : Value(nullptr);
}
template <class T>
Value encode(const std::vector<T>& list) {
    if constexpr (requires { encode_value(list); }) {
        return encode_value(list);
    } else {
        Value array = Value::array();
        for (const T& item : list) array.push_back(encode(item));
        return array;
    }
}
template <class T>
Value encode(const T& value) {
    if constexpr (requires { encode_value(value); }) {
        return encode_value(value);
    } else if constexpr (Record<const T>) {
        Value object = Value::object();
        each_field(
            [&](const char* key, const auto& member) {
                if constexpr (is_sparse<std::decay_t<decltype(member)>> || is_lenient<T>)
                    if (is_empty(member)) return;
                object[key] = encode(member);
            },
            value);
        return object;
    } else if constexpr (std::is_enum_v<T>) {
        return to_string(value);
    } else {
        return value;
    }
}

// --- from JSON -------------------------------------------------------------------------------------

template <class T>
void decode(const Object& object, T& out);
template <class T>
void decode(const Object& object, std::string_view key, std::optional<T>& out);
template <Record T>
void decode(const Object& object, std::string_view key, std::vector<T>& out);
void decode(const Object& object, std::string_view key, std::vector<Scalar>& out);
void decode(const Object& object, std::string_view key, std::vector<std::optional<double>>& out);

/// Reads the member at `key`; a problem is recorded in the object's document.
template <class T>
void decode(const Object& object, std::string_view key, T& out) {
    if constexpr (requires { decode_value(object, key, out); }) {
        decode_value(object, key, out);
    } else if constexpr (Record<T>) {
        const Object inner = object.object(key);
        if (!object.failed()) decode(inner, out);
    } else if constexpr (std::is_enum_v<T>) {
        std::string text;
        object.read(key, text);
        if (!object.failed() && !from_text(text, out)) object.expected(key, expected_names(out));
    } else {
        object.read(key, out);
    }
}
template <class T>
void decode(const Object& object, std::string_view key, std::optional<T>& out) {
    out.reset();
    const Value* value = object.find(key);
    if (value != nullptr && !value->is_null()) decode(object, key, out.emplace());
}
template <Record T>
void decode(const Object& object, std::string_view key, std::vector<T>& out) {
    out.clear();
    object.each(key, [&](const Object& item) { decode(item, out.emplace_back()); });
}

template <Record T>
std::vector<std::string> keys_of(const T& record) {
    std::vector<std::string> keys;
    each_field([&](const char* key, const auto&) { keys.emplace_back(key); }, record);
    return keys;
}

/// Reads the object itself.
template <class T>
void decode(const Object& object, T& out) {
    each_field(
        [&](const char* key, auto& member) {
            if (object.failed()) return;
            using Member = std::decay_t<decltype(member)>;
            if ((is_sparse<Member> || is_lenient<T>) && !object.has(key)) return;
            decode(object, key, member);
        },
        out);
    if constexpr (is_closed<T>) object.only(keys_of(out));
}

/// `source` names the text in messages: "journal.ndjson:7", "message of a worker".
template <Record T>
Result<T> read(const Value& value, std::string_view source) {
    Document document{value, source};
    T out{};
    const Object root = document.root();
    if (!document.failed()) decode(root, out);
    ASSAY_TRY(document.result());
    return out;
}

} // namespace assay::json
