// SPDX-License-Identifier: Apache-2.0
//
// Values as bytes, which are equal where the values are: keys of what many runs have in common.

#pragma once

#include "record/layout.hpp"

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace assay::store {

class Packer {
public:
    explicit Packer(std::string& out) : out_{out} {}

    template <class T>
        requires std::is_arithmetic_v<T> || std::is_enum_v<T>
    void put(T value) {
        char bytes[sizeof value];
        std::memcpy(bytes, &value, sizeof value);
        out_.append(bytes, sizeof value);
    }
    void put(std::string_view text) {
        put(text.size());
        out_.append(text);
    }
    void put(const std::string& text) { put(std::string_view{text}); }
    template <class T>
    void put(const std::optional<T>& value) {
        put(value.has_value());
        if (value) put(*value);
    }
    template <class T>
    void put(const std::vector<T>& list) {
        put(list.size());
        for (const T& item : list) put(item);
    }
    void put(const record::Value& value) {
        put(value.index());
        std::visit([&](const auto& held) { put(held); }, value);
    }
    void put(const record::Named& named) {
        put(named.name);
        put(named.value);
    }
    template <json::Record T>
    void put(const T& record) {
        each_field([&](const char*, const auto& field) { put(field); }, record);
    }

private:
    std::string& out_;
};

template <class T>
std::string packed(const T& value) {
    std::string bytes;
    Packer{bytes}.put(value);
    return bytes;
}

} // namespace assay::store
