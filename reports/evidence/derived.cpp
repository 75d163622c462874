// SPDX-License-Identifier: Apache-2.0

#include "evidence/derived.hpp"

#include "base/utc.hpp"
#include "evidence/files.hpp"
#include "export/judgement_data.hpp"
#include "judge/judge.hpp"
#include "judge/plugin.hpp"
#include "language/language.hpp"
#include "report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
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
    const auto differs = [&] { found.push_back(place.empty() ? "/" : place); };
    if (!a.is_structured() || !b.is_structured()) {
        if (!is_same(a, b)) differs();
        return;
    }
    if (a.is_object() != b.is_object() || a.size() != b.size()) return differs();
    if (a.is_array()) {
        for (std::size_t i = 0; i < a.size(); ++i)
            compare(a[i], b[i], fmt::format("{}/{}", place, i), most, found);
        return;
    }
    const auto& left = a.get_ref<const json::Value::object_t&>();
    std::map<std::string_view, const json::Value*> right;
    for (const auto& [key, value] : b.get_ref<const json::Value::object_t&>()) right[key] = &value;
    for (const auto& [key, value] : left) {
        const auto other = right.find(key);
        if (other == right.end())
            found.push_back(fmt::format("{}/{}", place, key));
        else
            compare(value, *other->second, fmt::format("{}/{}", place, key), most, found);
    }
}

} // namespace

std::string member_text(const json::Value& object, const char* key) {
    const auto found = object.is_object() ? object.find(key) : object.end();
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

Result<json::Value> verdict_of_bundle(const std::filesystem::path& folder,
                                      const std::vector<std::string>& limits,
                                      const std::string& created) {
    const InEnglish english;
    const auto now = seconds_of(created);
    if (!now) return fail(fmt::format("\"{}\" is no time in UTC", plain(created, 60)));
    std::vector<LimitsFile> files;
    for (const auto& name : limits) {
        auto file = read_limits(folder / name);
        if (!file) return tl::unexpected{file.error()};
        files.push_back(std::move(*file));
    }
    auto layers = layered(std::move(files));
    if (!layers) return tl::unexpected{layers.error()};
    auto collection = collect({(folder / results_folder).string()},
                              collecting_for(*layers, {.index = false, .now = now}));
    if (!collection) return tl::unexpected{collection.error()};
    const auto judgement = judge(std::move(*collection), std::move(*layers),
                                 {.campaign = {}, .levels = {}, .now = now});
    if (!judgement) return tl::unexpected{judgement.error()};
    auto value = json::parse(
        to_json(*judgement, exit_code_of(judgement->outcome, ExitStyle::assay)), verdict_file);
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

json::Value decisions_of(const json::Value& verdict) {
    const auto part = [](const json::Value& from, std::initializer_list<const char*> keys) {
        json::Value taken = json::Value::object();
        for (const char* key : keys) taken[key] = from.value(key, json::Value{});
        return taken;
    };
    std::vector<std::string> nodes;
    for (const auto& node : verdict.at("nodes")) {
        auto decided = part(node, {"verdict", "required", "ran", "not_judged"});
        for (const auto& check : node.value("checks", json::Value::array()))
            decided["checks"].push_back(part(check, {"id", "case", "verdict", "cause", "action",
                                                     "value", "bound", "replicas", "runs"}));
        nodes.push_back(json::to_line(decided));
    }
    std::ranges::sort(nodes);
    return {{"verdict", verdict.at("verdict")}, {"nodes", std::move(nodes)}};
}

MachineFacts machine_facts(const json::Value& document) {
    const auto section = [&](const char* key) {
        const auto found = document.is_object() ? document.find(key) : document.end();
        return found == document.end() ? json::Value::object() : *found;
    };
    const auto run = section("run");
    auto machine = section("machine");
    return {.id = member_text(machine, "id"),
            .run = member_text(run, "id"),
            .started = member_text(run, "started"),
            .machine = std::move(machine)};
}

json::Value inventory_of(std::vector<MachineFacts> facts) {
    std::ranges::stable_sort(
        facts, {}, [](const MachineFacts& one) { return std::tie(one.id, one.started, one.run); });
    json::Value machines = json::Value::array();
    for (std::size_t i = 0; i < facts.size();) {
        json::Value runs = json::Value::array();
        const auto first = i;
        for (; i < facts.size() && facts[i].id == facts[first].id; ++i)
            runs.push_back(facts[i].run);
        machines.push_back(
            {{"runs", std::move(runs)}, {"machine", std::move(facts[i - 1].machine)}});
    }
    return {{"schema", "assay.inventory/1"}, {"machines", std::move(machines)}};
}

std::vector<std::string> differences(const json::Value& a, const json::Value& b, std::size_t most) {
    std::vector<std::string> found;
    compare(a, b, "", most, found);
    return found;
}

} // namespace assay::report
