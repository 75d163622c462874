// SPDX-License-Identifier: Apache-2.0
//
// Runs with arbitrary content: not consistent, but every field of layout.hpp takes every kind of value it can have.

#pragma once

#include "record/layout.hpp"

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace assay::test {

class RandomRun {
public:
    explicit RandomRun(std::uint32_t seed) : engine_{seed} {}

    record::Run run() {
        record::Run run;
        fill(run);
        fill(run.machine); // it and the cases are beside the run in JSON
        fill(run.cases);
        return run;
    }

private:
    std::uint64_t below(std::uint64_t count) { return engine_() % count; }
    bool flag() { return below(2) == 0; }

    std::string text() {
        static const std::array<std::string, 12> pieces{
            "a",    "\"",       "\\", "</script>", "é", "漢字",
            "\n\t", "\x01\x1f", "😀", "",          " ", std::string("\0nul", 4)};
        std::string text;
        for (auto i = below(5); i > 0; --i) text += pieces.at(below(pieces.size()));
        return text;
    }

    double real() {
        using Limits = std::numeric_limits<double>;
        static constexpr std::array edges{0.0,
                                          -0.0,
                                          1.0,
                                          0.1,
                                          1e15,
                                          1e18,
                                          123456789012345678.0,
                                          Limits::max(),
                                          Limits::lowest(),
                                          Limits::min(),
                                          Limits::denorm_min(),
                                          Limits::epsilon()};
        if (below(3) == 0) return edges.at(below(edges.size()));
        return std::ldexp(std::uniform_real_distribution<double>{-1, 1}(engine_),
                          static_cast<int>(below(600)) - 300);
    }

    template <std::integral T>
    T whole() {
        using Limits = std::numeric_limits<T>;
        if (below(3) == 0) return flag() ? Limits::max() : Limits::min();
        return static_cast<T>(below(1000) - (std::is_signed_v<T> ? 500U : 0U));
    }

    void fill(record::NamedList& list) {
        static const std::array<record::Value, 4> kinds{std::int64_t{}, 0.0, false, std::string{}};
        list.clear();
        for (auto i = below(5); i > 0; --i) {
            record::Value value = kinds.at(below(kinds.size()));
            std::visit([&](auto& held) { fill(held); }, value);
            list.push_back({text() + std::to_string(i), value}); // names are unique
        }
    }
    template <class T>
    void fill(T& out) {
        if constexpr (json::Record<T>)
            each_field([&](const char*, auto& field) { fill(field); }, out);
        else if constexpr (std::derived_from<T, record::NamedList>)
            fill(static_cast<record::NamedList&>(out));
        else if constexpr (std::is_enum_v<T>)
            out = static_cast<T>(below(all_values<T>().size()));
        else if constexpr (std::same_as<T, bool>)
            out = flag();
        else if constexpr (std::integral<T>)
            out = whole<T>();
        else if constexpr (std::same_as<T, double>)
            out = real();
        else
            out = T{text()};
    }
    template <class T>
    void fill(std::optional<T>& out) {
        if (flag()) fill(out.emplace());
    }
    template <class T>
    void fill(std::vector<T>& out) {
        out.resize(below(4));
        for (T& item : out) fill(item);
    }

    std::mt19937_64 engine_;
};

} // namespace assay::test
