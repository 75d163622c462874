// SPDX-License-Identifier: Apache-2.0

#include "store/alike.hpp"

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/store.hpp"
#include "document/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace assay::report {
namespace {

/// Of each condition of the table its value; nothing where it was not recorded or does not count.
using Values = std::vector<const record::Value*>;

bool compatible(const Values& a, const Values& b) {
    for (std::size_t i = 0; i < a.size(); ++i)
        if (a[i] != nullptr && b[i] != nullptr && *a[i] != *b[i]) return false;
    return true;
}

record::NamedList settled(const Values& own, const std::vector<Values>& all) {
    const auto table = record::condition_table();
    std::vector<std::set<record::Value>> others(own.size());
    for (const auto& other : all) {
        if (!compatible(own, other)) continue;
        for (std::size_t i = 0; i < own.size(); ++i)
            if (other[i] != nullptr) others[i].insert(*other[i]);
    }
    record::NamedList list;
    for (std::size_t i = 0; i < own.size(); ++i) {
        if (others[i].empty()) continue; // nor did anybody else: alike, as far as is known
        const bool known = own[i] != nullptr || others[i].size() == 1;
        list.push_back({std::string{table[i].name},
                        known ? *others[i].begin() : record::Value{std::string{}}});
    }
    return list;
}

} // namespace

std::vector<record::NamedList> settle(const std::vector<Series>& series,
                                      const std::vector<std::uint32_t>& group,
                                      const std::vector<std::string>& left_out) {
    std::vector<Values> values;
    std::map<std::uint32_t, std::vector<Values>> groups;
    for (std::size_t i = 0; i < series.size(); ++i) {
        auto& own = values.emplace_back();
        for (const auto& condition : record::condition_table())
            own.push_back(std::ranges::count(left_out, condition.name) > 0
                              ? nullptr
                              : record::find(series[i].conditions, condition.name));
        auto& all = groups[group[i]];
        const auto is_same = [&](const Values& other) {
            return std::ranges::equal(own, other, [](const auto* a, const auto* b) {
                return a == nullptr || b == nullptr ? a == b : *a == *b;
            });
        };
        if (std::ranges::none_of(all, is_same)) all.push_back(own);
    }
    std::vector<record::NamedList> lists;
    for (std::size_t i = 0; i < series.size(); ++i)
        lists.push_back(settled(values[i], groups[group[i]]));
    return lists;
}

std::string condition_in_words(const record::NamedList& conditions, std::string_view name) {
    const auto value = record::text(conditions, name);
    return plain(value.empty() ? say<text::store::not_recorded>(with_blanks(name))
                               : fmt::format("{} {}", with_blanks(name), with_blanks(value)));
}

std::string conditions_in_words(const record::NamedList& conditions,
                                const record::NamedList& parameters) {
    std::vector<std::string> parts;
    for (const auto& [name, value] : conditions) {
        const auto* condition = record::find_condition(name);
        const bool usual = condition != nullptr && record::to_string(value) == condition->usual;
        const auto* parameter = record::find(parameters, name);
        if (usual || (parameter != nullptr && *parameter == value)) continue;
        parts.push_back(condition_in_words(conditions, name));
    }
    return join(parts);
}

std::vector<std::string> assumed(const record::NamedList& settled, const Series& series) {
    std::vector<std::string> names;
    for (const auto& [name, value] : settled)
        if (record::find(series.conditions, name) == nullptr && !record::to_string(value).empty())
            names.push_back(name);
    return names;
}

} // namespace assay::report
