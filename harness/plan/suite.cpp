// SPDX-License-Identifier: Apache-2.0
#include "plan/suite.hpp"

#include "base/file.hpp"
#include "base/sha256.hpp"
#include "json/fields.hpp"
#include "json/words.hpp"
#include "plan/together.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace assay::plan {
namespace {

constexpr std::string_view schema_name = "assay.suite/1";
constexpr std::string_view frozen_schema = "assay.frozen/1";
constexpr std::string_view extension = ".json";
constexpr std::string_view frozen_name = "frozen";
constexpr std::size_t longest_file =
    1U << 20U; // bytes: a thousand times the longest that somebody wrote

/// A number of seconds, or a share; zero and less make no sense for any of them.
void read_positive(const json::Object& object, std::string_view key, double& out, double most) {
    object.read_if(key, out);
    if (!(out > 0 && out <= most))
        object.expected(key, fmt::format("a number above 0, at most {}", most));
}

void read_protocol(const json::Object& object, record::Protocol& protocol) {
    constexpr double day = 86'400; // seconds; no case lasts longer
    read_positive(object, "target", protocol.target, 1);
    read_positive(object, "min_seconds", protocol.min_seconds, day);
    read_positive(object, "budget_seconds", protocol.budget_seconds, day);
    read_positive(object, "limit_seconds", protocol.limit_seconds, day);
    read_positive(object, "warmup_seconds", protocol.warmup_seconds, day);
    if (object.has("step_seconds"))
        read_positive(object, "step_seconds", protocol.step_seconds, day);
    object.only({"target", "min_seconds", "budget_seconds", "limit_seconds", "warmup_seconds",
                 "step_seconds"});
    if (protocol.budget_seconds < protocol.min_seconds)
        object.expected("budget_seconds",
                        fmt::format("at least min_seconds, which is {}", protocol.min_seconds));
    if (protocol.limit_seconds < protocol.budget_seconds)
        object.expected("limit_seconds", fmt::format("at least budget_seconds, which is {}",
                                                     protocol.budget_seconds));
}

bool is_plain(const json::Value& value) { return value.is_primitive() && !value.is_null(); }

void read_parameters(const json::Object& object, SuiteCase& entry) {
    for (const auto& item : object.value().items()) {
        SuiteParameter parameter{.name = item.key(), .values = {}};
        if (is_plain(item.value())) {
            parameter.values.push_back(item.value());
        } else if (item.value().is_array() && !item.value().empty() &&
                   std::ranges::all_of(item.value(), is_plain)) {
            parameter.values.assign(item.value().begin(), item.value().end());
        } else {
            return object.expected(item.key(),
                                   "a value, or a list of values to be measured in turn");
        }
        entry.parameters.push_back(std::move(parameter));
    }
}

void read_needs(const json::Object& object, SuiteCase& entry) {
    std::vector<std::string> words;
    object.read_if("needs", words);
    for (const auto& word : words)
        if (!from_text(word, entry.needs.emplace_back()))
            return object.expected("needs", "a list of hosts (several), devices (several), rdma");
}

void read_together(const json::Object& object, SuiteCase& entry) {
    if (!object.has("together")) return;
    const auto& value = object.value().at("together");
    const bool is_count = value.is_number_integer();
    if (is_count)
        entry.together = fmt::format("cpus:{}", value.get<std::int64_t>());
    else
        object.read("together", entry.together);
    if (!is_together(entry.together) || (!is_count && entry.together.starts_with("cpus")))
        object.expected("together",
                        "devices, sockets, numa, or a number of parts of the CPUs (2 to 1024)");
}

void read_devices(const json::Object& object, DeviceUse& use) {
    if (!object.has("devices")) return;
    std::string word;
    object.read("devices", word);
    if (!from_text(word, use) || use == DeviceUse::usual)
        object.expected("devices", std::string{expected_text(use)});
}

/// `entry` comes with the protocol of the suite.
void read_case(const json::Object& object, SuiteCase& entry) {
    object.read("benchmark", entry.benchmark);
    if (object.has("parameters")) read_parameters(object.object("parameters"), entry);
    if (object.has("protocol")) read_protocol(object.object("protocol"), entry.protocol);
    read_needs(object, entry);
    read_together(object, entry);
    read_devices(object, entry.devices);
    object.read_if("stress", entry.is_stress);
    object.only({"benchmark", "devices", "library", "needs", "parameters", "protocol", "stress",
                 "together"});
}

/// One, or several that are measured alike.
std::vector<std::string> read_libraries(const json::Object& object) {
    std::vector<std::string> libraries{""};
    if (!object.has("library")) return libraries;
    if (object.value().at("library").is_array())
        object.read("library", libraries);
    else
        object.read("library", libraries.front());
    if (libraries.empty() || std::ranges::count(libraries, "") > 0)
        object.expected("library", "a module, or a list of modules");
    return libraries;
}

std::filesystem::path suite_folder() { return layout().share / "suites"; }

/// Results under the name of a frozen suite are of its cases, or the name would mean nothing.
Result<void> check_frozen(Suite& suite, const FrozenSuites& frozen) {
    const auto known = frozen.find(suite.name);
    suite.is_frozen = known != frozen.end();
    if (!suite.is_frozen || known->second == suite.digest) return {};
    return fail(fmt::format("{}: {} differs from the frozen suite of that name (digest {}, frozen "
                            "{}): give it a new name",
                            suite.source, json::show_text(suite.name), suite.digest.substr(0, 12),
                            known->second.substr(0, 12)));
}

} // namespace

Result<FrozenSuites> read_frozen(const std::filesystem::path& path) {
    ASSAY_TRY(const auto text, read_whole(path, longest_file));
    ASSAY_TRY(const auto value, json::parse(text, path.string()));
    json::Document document{value, path.string()};
    const auto root = document.root();
    FrozenSuites frozen;
    std::string schema;
    root.read("schema", schema);
    if (schema != frozen_schema) root.expected("schema", fmt::format("\"{}\"", frozen_schema));
    const auto suites = root.object("suites");
    if (!suites.failed())
        for (const auto& item : suites.value().items()) suites.read(item.key(), frozen[item.key()]);
    root.only({"schema", "suites"});
    ASSAY_TRY(document.result());
    return frozen;
}

Result<FrozenSuites> frozen_suites() {
    const auto path = suite_folder() / fmt::format("{}{}", frozen_name, extension);
    std::error_code error;
    if (!std::filesystem::exists(path, error) && !error) return FrozenSuites{};
    return read_frozen(path);
}

Result<Suite> parse_suite(std::string_view text, std::string_view source,
                          const FrozenSuites& frozen) {
    ASSAY_TRY(const auto value, json::parse(text, source));
    json::Document document{value, source};
    const auto root = document.root();
    Suite suite{.source = std::string{source}, .digest = to_hex(sha256(json::to_canonical(value)))};
    std::string schema;
    root.read("schema", schema);
    if (schema != schema_name) root.expected("schema", fmt::format("\"{}\"", schema_name));
    root.read("name", suite.name);
    root.read("description", suite.description);
    if (root.has("protocol")) read_protocol(root.object("protocol"), suite.protocol);
    root.read_if("replicas", suite.replicas);
    constexpr int most_replicas = 100; // more add nothing
    if (suite.replicas < 1 || suite.replicas > most_replicas)
        root.expected("replicas", fmt::format("1 to {}", most_replicas));
    constexpr double day = 86'400; // seconds
    if (root.has("patience_seconds"))
        root.read("patience_seconds", suite.patience_seconds.emplace());
    if (const auto patience = suite.patience_seconds.value_or(0);
        !(patience >= 0 && patience <= day))
        root.expected("patience_seconds", fmt::format("0 to {}", day));
    if (root.has("most_seconds"))
        read_positive(root, "most_seconds", suite.most_seconds.emplace(), day);
    root.read_if("stages", suite.has_stages);
    if (root.has("soak_seconds")) {
        read_positive(root, "soak_seconds", suite.soak_seconds.emplace(), 365 * day);
        if (suite.has_stages) root.expected("soak_seconds", "a suite without \"stages\": true");
    }
    DeviceUse devices = DeviceUse::usual;
    read_devices(root, devices);
    root.each("cases", [&](const json::Object& item) {
        SuiteCase entry;
        entry.protocol = suite.protocol;
        entry.devices = devices;
        read_case(item, entry);
        for (auto& library : read_libraries(item)) {
            entry.library = std::move(library);
            suite.cases.push_back(entry);
        }
        if (entry.is_stress && !suite.has_stages)
            item.expected("stress", "used in a suite with \"stages\": true");
    });
    if (suite.cases.empty()) root.expected("cases", "at least one case");
    root.only({"schema", "name", "description", "protocol", "replicas", "patience_seconds",
               "most_seconds", "soak_seconds", "stages", "devices", "cases"});
    ASSAY_TRY(document.result());
    ASSAY_TRY(check_frozen(suite, frozen));
    return suite;
}

Result<Suite> read_suite(const std::filesystem::path& path) {
    ASSAY_TRY(const auto text, read_whole(path, longest_file));
    ASSAY_TRY(const auto frozen, frozen_suites());
    return parse_suite(text, path.string(), frozen);
}

std::vector<std::string> suite_names() {
    std::vector<std::string> names;
    std::error_code error;
    for (std::filesystem::directory_iterator item{suite_folder(), error}, end;
         !error && item != end; item.increment(error))
        if (item->path().extension() == extension && item->path().stem() != frozen_name)
            names.push_back(item->path().stem().string());
    std::ranges::sort(names);
    return names;
}

std::filesystem::path find_suite(std::string_view what) {
    if (what.find('/') != std::string_view::npos || what.ends_with(extension)) return what;
    const auto names = suite_names();
    // Its name until it was frozen, which scripts may still have.
    if (what == "quarterly-draft") what = "quarterly";
    if (std::ranges::find(names, what) == names.end()) return {};
    return suite_folder() / fmt::format("{}{}", what, extension);
}

} // namespace assay::plan
