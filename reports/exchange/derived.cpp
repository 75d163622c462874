// SPDX-License-Identifier: Apache-2.0

#include "exchange/derived.hpp"

#include "base/utc.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "exchange/bundle_files.hpp"
#include "exchange/judgement_data.hpp"
#include "exchange/plugin.hpp"
#include "judge/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace assay::report {
namespace {

/// The same in every language that a bundle is checked in.
class InEnglish {
public:
    InEnglish() : before_{language_in_use()} { use_language(Language::en); }
    InEnglish(const InEnglish&) = delete;
    InEnglish& operator=(const InEnglish&) = delete;
    ~InEnglish() { use_language(before_); }

private:
    Language before_;
};

/// Paths as they are in the bundle, wherever it lies.
void make_relative(json::Value& value, const std::string& prefix) { // NOLINT(misc-no-recursion)
    if (value.is_string()) {
        auto& text = value.get_ref<std::string&>();
        for (auto at = text.find(prefix); at != text.npos; at = text.find(prefix, at))
            text.erase(at, prefix.size());
    } else if (value.is_structured()) {
        for (auto& inner : value) make_relative(inner, prefix);
    }
}

/// Recomputed values may differ in the last digits between compilers.
bool is_same(const json::Value& a, const json::Value& b) {
    if (!a.is_number() || !b.is_number()) return a == b;
    const auto x = a.get<double>();
    const auto y = b.get<double>();
    return std::abs(x - y) <= 1e-9 * std::max(std::abs(x), std::abs(y));
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the parser let it be
void compare(const json::Value& a, const json::Value& b, const std::string& place, std::size_t most,
             std::vector<std::string>& found) {
    if (found.size() >= most) return;
    if (!a.is_structured() || a.type() != b.type() || a.size() != b.size()) {
        if (!is_same(a, b)) found.push_back(place.empty() ? "/" : place);
        return;
    }
    auto other = b.items().begin();
    for (const auto& [key, value] : a.items()) {
        const auto inner = fmt::format("{}/{}", place, key);
        if (key != other.key())
            found.push_back(inner);
        else
            compare(value, other.value(), inner, most, found);
        ++other;
    }
}

} // namespace

Result<json::Value> verdict_of_bundle(const std::filesystem::path& bundle,
                                      const std::string& created) {
    const InEnglish english;
    const auto folder = std::filesystem::absolute(bundle); // "b/" may be in any text
    const auto now = seconds_of(created);
    if (!now) return fail(fmt::format("\"{}\" is no time in UTC", plain(created, 60)));
    ASSAY_TRY(const auto files, files_of_bundle(folder));
    std::vector<LimitsFile> limits;
    for (const auto& name : files.regular) {
        if (!name.starts_with(limits_folder)) continue;
        ASSAY_TRY(auto file, read_limits(folder / name));
        limits.push_back(std::move(file));
    }
    ASSAY_TRY(auto layers, layered(std::move(limits)));
    ASSAY_TRY(auto collection,
              collect({(folder / results_folder).string()}, collecting_for(layers, {.now = now})));
    ASSAY_TRY(const auto judgement, judge(std::move(collection), std::move(layers),
                                          {.campaign = {}, .levels = {}, .now = now}));
    auto value = json::parse(to_json(judgement, exit_code_of(judgement.outcome, ExitStyle::assay)),
                             verdict_file);
    if (!value) return tl::unexpected{value.error()};
    make_relative(*value, (folder / "").string());
    for (auto& text : (*value)["text"]) text = "";
    for (auto& node : (*value)["nodes"]) {
        node["name"] = node["machine"];
        if (node["worst"].is_object()) node["worst"]["text"] = "";
        if (node.contains("checks"))
            for (auto& check : node["checks"]) check["name"] = "";
    }
    return value;
}

std::vector<std::string> differences(const json::Value& a, const json::Value& b, std::size_t most) {
    std::vector<std::string> found;
    compare(a, b, "", most, found);
    return found;
}

} // namespace assay::report
