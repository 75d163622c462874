// SPDX-License-Identifier: Apache-2.0
#include "purchase/profile.hpp"

#include "base/console.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "document/language.hpp"
#include "purchase/needs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace assay::purchase {

using namespace document;
namespace {

template <class T, class Name>
void put(std::vector<T>& list, T one, Name T::* name) {
    const auto found = std::ranges::find(list, one.*name, name);
    if (found != list.end())
        *found = std::move(one);
    else
        list.push_back(std::move(one));
}

template <class T, class Name>
std::vector<std::string> names_of(const std::vector<T>& list, Name T::* name) {
    std::vector<std::string> names;
    for (const auto& one : list) names.push_back(one.*name);
    return names;
}

Profile profile_in(const json::Object& row) {
    Profile profile;
    row.read("name", profile.name);
    row.read_if("title", profile.title);
    row.read_if("title_zh", profile.title_zh);
    row.read_if("needs", profile.needs);
    for (const auto& [id, value] : row.value().at("weights").items())
        profile.weights.push_back({id, value.get<double>()});
    return profile;
}

std::string fault_of(const Profile& profile, const Profiles& profiles) {
    double sum = 0;
    for (const auto& [measure, value] : profile.weights) {
        if (std::ranges::find(profiles.measures, measure, &Measure::id) == profiles.measures.end())
            return fmt::format("unknown measure \"{}\"{}", measure,
                               suggestion(measure, names_of(profiles.measures, &Measure::id)));
        sum += value;
    }
    if (const auto needs = all_needs(profile.needs, {}); !needs) return needs.error().message;
    constexpr double rounding = 1e-6;
    if (std::abs(sum - 1) > rounding)
        return fmt::format("the weights sum to {:.6g} (expected 1)", sum);
    return "";
}

/// A filter is taken apart where it is used; what can be none is said with the file.
std::string fault_of(const Measure& measure) {
    for (const auto& filter : measure.where)
        if (const auto equals = filter.find('='); equals == std::string::npos || equals == 0)
            return fmt::format(
                "invalid filter \"{}\" (expected benchmark=gemm.*, .precision=bf16|fp16)",
                plain(filter, 200));
    return "";
}

template <class Titled>
std::string title(const Titled& one, const std::string& otherwise) {
    const auto& text =
        language_in_use() == Language::zh && !one.title_zh.empty() ? one.title_zh : one.title;
    return plain(text.empty() ? otherwise : text, 200);
}

} // namespace

std::string title_of(const Measure& measure) { return title(measure, measure.id); }
std::string title_of(const Profile& profile) { return title(profile, profile.name); }

Result<void> add_profiles(std::string_view text, const std::string& source, Profiles& profiles) {
    static const auto schema = json::read_file(layout().share / "schema" / "profile.json");
    if (!schema) return tl::unexpected{schema.error()};
    ASSAY_TRY(const auto value, json::parse(text, source));
    ASSAY_TRY(json::check_schema(value, *schema, source));
    json::Document document{value, source};
    const auto root = document.root();
    std::vector<Profile> added;
    if (root.has("measures"))
        root.each("measures", [&](const json::Object& row) {
            Measure measure;
            json::decode(row, measure);
            if (const auto fault = fault_of(measure); !fault.empty()) row.problem("where", fault);
            put(profiles.measures, std::move(measure), &Measure::id);
        });
    if (root.has("profiles"))
        root.each("profiles", [&](const json::Object& row) { added.push_back(profile_in(row)); });
    ASSAY_TRY(document.result());
    for (auto& profile : added) {
        if (const auto fault = fault_of(profile, profiles); !fault.empty())
            return fail(fmt::format("{}: profile \"{}\": {}", source, profile.name, fault));
        put(profiles.profiles, std::move(profile), &Profile::name);
    }
    return {};
}

Result<Profiles> read_profiles(const std::vector<std::string>& files) {
    std::vector<std::string> all{(layout().share / "profiles" / "standard.json").string()};
    all.insert(all.end(), files.begin(), files.end());
    Profiles profiles;
    for (const auto& file : all) {
        ASSAY_TRY(const auto text, read_whole(file, json::Limits{}.bytes));
        ASSAY_TRY(add_profiles(text, file, profiles));
    }
    return profiles;
}

Result<Profile> find_profile(const Profiles& profiles, const std::string& name) {
    const auto found = std::ranges::find(profiles.profiles, name, &Profile::name);
    if (found != profiles.profiles.end()) return *found;
    const auto names = names_of(profiles.profiles, &Profile::name);
    return fail(fmt::format("unknown profile \"{}\"{}; known: {}", plain(name, 60),
                            suggestion(name, names), fmt::join(names, ", ")));
}

const Measure& measure_of(const Profiles& profiles, const Weight& weight) {
    return *std::ranges::find(profiles.measures, weight.measure, &Measure::id);
}

} // namespace assay::purchase
