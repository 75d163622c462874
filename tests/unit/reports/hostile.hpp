// SPDX-License-Identifier: Apache-2.0
//
// Puts one text into every string of a run: labels, reasons, names and values of parameters, ...

#pragma once

#include "record/layout.hpp"
#include "record/model.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay::test {

inline void fill(std::string& field, const std::string& text) { field = text; }
inline void fill(record::NamedList& list, const std::string& text) {
    list = {{text, text}, {"bytes", text}, {"threads", text}, {text + "2", 1.5}};
}
inline void fill(std::vector<std::string>& list, const std::string& text) { list = {text, text}; }
template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
void fill(T& /*field*/, const std::string& /*text*/) {}
template <json::Record T>
void fill(T& field, const std::string& text);
template <class T>
void fill(std::optional<T>& field, const std::string& text) {
    if (field) fill(*field, text);
}
template <json::Record T>
void fill(std::vector<T>& list, const std::string& text) {
    for (auto& entry : list) fill(entry, text);
}
inline void fill(std::vector<double>& /*values*/, const std::string& /*text*/) {}
/// Two by two, as there are two labels now.
inline void fill(std::vector<std::optional<double>>& values, const std::string& /*text*/) {
    values = {1.0, 2.0, 3.0, std::nullopt};
}
template <json::Record T>
void fill(T& field, const std::string& text) {
    each_field([&](const auto&, auto& member) { fill(member, text); }, field);
}

inline record::Run filled_with(record::Run run, const std::string& text) {
    fill(run, text);
    fill(run.machine, text);
    for (auto& c : run.cases) {
        const std::string first = c.benchmark;
        fill(c, text);
        c.benchmark = first.substr(0, 2) + text; // several sections
    }
    return run;
}

} // namespace assay::test
