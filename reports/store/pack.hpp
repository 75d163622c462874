// SPDX-License-Identifier: Apache-2.0
//
// Values as bytes and back, for the index: every record of harness/record and reports/store that lists its
// fields, numbers as they lie in memory (an index stays on its machine). Unpacking trusts nothing: whatever
// the bytes are, the answer is a value or "no".

#pragma once

#include "record/layout.hpp"

#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace assay::report {

/// The last value of an enumeration, so that no other is unpacked. Each that is packed says it here: there is no default.
template <class Enum>
extern const Enum last_of;
template <>
inline constexpr auto last_of<record::Status> = record::Status::not_started;
template <>
inline constexpr auto last_of<record::IntervalScope> = record::IntervalScope::between_replicas;
template <>
inline constexpr auto last_of<record::DisturbanceCode> = record::DisturbanceCode::cpus_moved;
template <>
inline constexpr auto last_of<record::StageName> = record::StageName::stress;
template <>
inline constexpr auto last_of<record::StageEnd> = record::StageEnd::not_begun;
template <>
inline constexpr auto last_of<record::RunEnd> = record::RunEnd::wrong_result;
template <>
inline constexpr auto last_of<record::Replay> = record::Replay::fresh_state;
template <>
inline constexpr auto last_of<record::HeldAgainst> = record::HeldAgainst::check;

class Packer {
public:
    explicit Packer(std::string& out) : out_{out} {}

    template <class T>
        requires std::integral<T> || std::is_enum_v<T>
    void put(T value) {
        auto bits = static_cast<std::uint64_t>(value);
        if constexpr (std::signed_integral<T>) // small negative numbers stay short
            bits = (bits << 1U) ^ (value < 0 ? ~std::uint64_t{0} : 0);
        for (; bits >= 0x80; bits >>= 7U) out_.push_back(static_cast<char>(bits | 0x80U));
        out_.push_back(static_cast<char>(bits));
    }
    void put(double value) {
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

class Unpacker {
public:
    explicit Unpacker(std::string_view bytes) : rest_{bytes} {}

    /// Everything was there, and nothing is left.
    bool complete() const { return good_ && rest_.empty(); }
    bool good() const { return good_; }

    template <class T>
        requires std::integral<T> || std::is_enum_v<T>
    void get(T& value) {
        const std::uint64_t bits = varint();
        if (!good_) return;
        if constexpr (std::is_enum_v<T>) {
            if (bits > static_cast<std::uint64_t>(last_of<T>)) return refuse();
            value = static_cast<T>(bits);
        } else if constexpr (std::same_as<T, bool>) {
            value = bits != 0;
        } else if constexpr (std::signed_integral<T>) {
            const auto wide = static_cast<std::int64_t>((bits >> 1U) ^ (~(bits & 1U) + 1U));
            if (!std::in_range<T>(wide)) return refuse();
            value = static_cast<T>(wide);
        } else {
            if (!std::in_range<T>(bits)) return refuse();
            value = static_cast<T>(bits);
        }
    }
    void get(double& value) {
        const std::string_view bytes = take(sizeof value);
        if (good_) std::memcpy(&value, bytes.data(), sizeof value);
    }
    void get(std::string& text) { text = take(size()); }
    template <class T>
    void get(std::optional<T>& value) {
        bool there = false;
        get(there);
        if (there) get(value.emplace());
    }
    template <class T>
    void get(std::vector<T>& list) {
        const std::size_t count =
            size(); // no more than bytes are left: nothing takes less than one
        list.clear();
        list.reserve(count);
        for (std::size_t i = 0; good_ && i < count; ++i) get(list.emplace_back());
    }
    void get(record::Value& value) {
        std::size_t kind = 0;
        get(kind);
        switch (kind) {
        case 0:
            return get(value.emplace<0>());
        case 1:
            return get(value.emplace<1>());
        case 2:
            return get(value.emplace<2>());
        case 3:
            return get(value.emplace<3>());
        default:
            return refuse();
        }
    }
    void get(record::Named& named) {
        get(named.name);
        get(named.value);
    }
    template <json::Record T>
    void get(T& record) {
        each_field(
            [&](const char*, auto& field) {
                if (good_) get(field);
            },
            record);
    }

private:
    /// Seven bits a byte, the lowest first; refused where it does not end.
    std::uint64_t varint() {
        std::uint64_t bits = 0;
        for (unsigned shift = 0; !rest_.empty() && shift <= 63; shift += 7) {
            const auto byte = static_cast<unsigned char>(rest_.front());
            rest_.remove_prefix(1);
            bits |= std::uint64_t{byte & 0x7FU} << shift;
            if (byte < 0x80) return bits;
        }
        refuse();
        return 0;
    }
    void refuse() {
        good_ = false;
        rest_ = {};
    }
    std::size_t size() {
        std::size_t size = 0;
        get(size);
        if (size <= rest_.size()) return size;
        refuse();
        return 0;
    }
    std::string_view take(std::size_t size) {
        if (size > rest_.size()) {
            refuse();
            return {};
        }
        const std::string_view taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }

    std::string_view rest_;
    bool good_ = true;
};

template <class T>
std::string packed(const T& value) {
    std::string bytes;
    Packer{bytes}.put(value);
    return bytes;
}
/// Nothing where the bytes are no T.
template <class T>
std::optional<T> unpacked(std::string_view bytes) {
    T value{};
    Unpacker unpacker{bytes};
    unpacker.get(value);
    if (!unpacker.complete()) return {};
    return value;
}

/// The names and types of what is packed, in order: bytes of another build are another shape.
class Shape {
public:
    template <class T>
        requires std::is_arithmetic_v<T>
    void add(const T& /*of*/) {
        text_ += std::floating_point<T> ? 'd' : std::signed_integral<T> ? 'i' : 'u';
    }
    template <class T>
        requires std::is_enum_v<T>
    void add(const T& /*of*/) {
        text_ += 'e' + std::to_string(static_cast<unsigned>(last_of<T>));
    }
    void add(const std::string& /*of*/) { text_ += 's'; }
    template <class T>
    void add(const std::optional<T>& /*of*/) {
        text_ += '?';
        add(T{});
    }
    template <class T>
    void add(const std::vector<T>& /*of*/) {
        text_ += '*';
        add(T{});
    }
    void add(const record::Named& /*of*/) { text_ += 'n'; }
    template <json::Record T>
    void add(const T& of) {
        text_ += '{';
        each_field(
            [&](const char* name, const auto& field) {
                text_ += name;
                text_ += ':';
                add(field);
            },
            of);
        text_ += '}';
    }
    const std::string& text() const { return text_; }

private:
    std::string text_;
};

} // namespace assay::report
