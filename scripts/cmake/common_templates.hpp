// SPDX-License-Identifier: Apache-2.0
//
// Templates that most files instantiate, instantiated once in clang's precompiled headers (scripts/cmake/AssayTargets.cmake),
// which keep the result: a tenth of the time of a build without optimisation. Nobody calls these functions.

#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace assay::common_templates {

template <class T>
void of_list(std::vector<T> list, T value) {
    list.push_back(value);
    list.emplace_back(value);
    list.insert(list.end(), list.begin(), list.end());
    list.erase(list.begin());
    list.resize(2);
    list.reserve(2);
    list = std::vector<T>{value, value};
    std::ranges::sort(list);
    std::sort(list.begin(), list.end());
    (void)(std::ranges::find(list, value) == list.end() || list == list);
    (void)fmt::format("{}", fmt::join(list, ", "));
    (void)(fmt::format("{}", value) + fmt::format("{}{}", value, value));
}
template <class T>
void of_optional(std::optional<T> one, T value) {
    one = value;
    one = std::optional{one};
    (void)(one.value_or(value) == value || one == one);
}
template <class T>
void of_map(std::map<std::string, T> map, const std::string& key, T value) {
    map[key] = value;
    map.emplace(key, value);
    for (auto& [name, each] : map) (void)(name == key || each == value);
    (void)(map.contains(key) || map.find(key) == map.end());
}
inline void of_json(nlohmann::ordered_json value, const std::string& text, double number) {
    using Value = nlohmann::ordered_json;
    value["a"] = text;
    value[text] = number;
    value["b"] = std::int64_t{1};
    value["c"] = std::size_t{1};
    value["d"] = std::vector<std::string>{};
    value["e"] = {{"a", 1}, {"b", "c"}, {"d", text}, {"e", true}, {"f", Value::array()}};
    value.push_back(Value::object());
    (void)(value.at("a") == value.at(text) || value.contains("a") || value.contains(text));
    (void)(value.find("a") == value.find(text) || value == "a" || value == 1 || value == 1.0);
    (void)(value.get<std::string>() == text || value.get<double>() == value.get<int>());
    (void)(value.get<std::int64_t>() == 1 || value.get<std::size_t>() == 1 || value.get<bool>());
    for (const auto& each : value) (void)(each == value.value("a", text) || each == value.at(1));
    for (const auto& [key, each] : value.items()) (void)(key == each.dump(2));
    value = Value::parse(text, nullptr, false);
    value.erase("a");
}
inline void of_all(const std::string& text, std::string_view view, double number,
                   std::size_t count) {
    of_list<std::string>({}, text);
    of_list<double>({}, number);
    of_list<std::size_t>({}, count);
    of_optional<std::string>({}, text);
    of_optional<double>({}, number);
    of_optional<std::int64_t>({}, 1);
    of_map<std::string>({}, text, text);
    of_map<double>({}, text, number);
    of_map<std::size_t>({}, text, count);
    of_json({}, text, number);
    std::set<std::string> names{text};
    names.insert(text);
    (void)names.contains(text);
    std::variant<std::int64_t, double, bool, std::string> scalar{text};
    scalar = number;
    scalar = std::variant{scalar};
    (void)(scalar == scalar && std::visit([](const auto&) { return true; }, scalar));
    (void)(std::get_if<std::string>(&scalar) == std::make_unique<std::string>(text).get());
    (void)(std::filesystem::path{text} / "a" == std::filesystem::path{view});
    (void)(std::regex_search(text, std::regex{text}) ||
           std::regex_replace(text, std::regex{"a"}, "b") == text);
    (void)(fmt::format("{} {}", text, view) + fmt::format("{} {} {}", text, text, text) +
           fmt::format("{} {}", text, count));
    (void)std::function<bool()>{[&] { return text == fmt::format("{:.2f}", number); }}();
}

} // namespace assay::common_templates
