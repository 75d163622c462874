// SPDX-License-Identifier: Apache-2.0
#include "plan/suite.hpp"

#include "base/file.hpp"
#include "json/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace assay::harness {
namespace {

constexpr std::string_view schema_name = "assay.suite/1";
constexpr std::string_view extension = ".json";

/// A number of seconds, or a share; zero and less make no sense for any of them.
void read_positive(const json::Object& object, std::string_view key, double& out, double most) {
    object.read_if(key, out);
    if (!(out > 0 && out <= most))
        object.expected(key, fmt::format("a number above 0, at most {}", most));
}

void read_protocol(const json::Object& object, measure::Protocol& protocol) {
    constexpr double day = 86'400; // seconds; no case lasts longer
    read_positive(object, "target", protocol.target, 1);
    read_positive(object, "min_seconds", protocol.min_seconds, day);
    read_positive(object, "budget_seconds", protocol.budget_seconds, day);
    read_positive(object, "limit_seconds", protocol.limit_seconds, day);
    read_positive(object, "warmup_seconds", protocol.warmup_seconds, day);
    object.only({"target", "min_seconds", "budget_seconds", "limit_seconds", "warmup_seconds"});
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

/// `entry` comes with the protocol of the suite.
void read_case(const json::Object& object, SuiteCase& entry) {
    object.read("benchmark", entry.benchmark);
    object.read_if("library", entry.library);
    if (object.has("parameters")) read_parameters(object.object("parameters"), entry);
    if (object.has("protocol")) read_protocol(object.object("protocol"), entry.protocol);
    object.only({"benchmark", "library", "parameters", "protocol"});
}

std::filesystem::path suite_folder() { return layout().share / "suites"; }

} // namespace

Result<Suite> parse_suite(std::string_view text, std::string_view source) {
    const auto value = json::parse(text, source);
    if (!value) return tl::unexpected{value.error()};
    json::Document document{*value, source};
    const auto root = document.root();
    Suite suite{.source = std::string{source}};
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
    if (root.has("patience_seconds")) {
        constexpr double day = 86'400; // seconds
        double patience = 0;
        root.read("patience_seconds", patience);
        if (!(patience >= 0 && patience <= day))
            root.expected("patience_seconds", fmt::format("0 to {}", day));
        suite.patience_seconds = patience;
    }
    root.each("cases", [&](const json::Object& item) {
        auto& entry = suite.cases.emplace_back();
        entry.protocol = suite.protocol;
        read_case(item, entry);
    });
    if (suite.cases.empty()) root.expected("cases", "at least one case");
    root.only(
        {"schema", "name", "description", "protocol", "replicas", "patience_seconds", "cases"});
    if (auto read = document.result(); !read) return tl::unexpected{read.error()};
    return suite;
}

Result<Suite> read_suite(const std::filesystem::path& path) {
    constexpr std::size_t most = 1U
                                 << 20U; // bytes: a thousand times the longest that somebody wrote
    const auto text = read_whole(path, most);
    if (!text) return tl::unexpected{text.error()};
    return parse_suite(*text, path.string());
}

std::vector<std::string> suite_names() {
    std::vector<std::string> names;
    std::error_code error;
    for (std::filesystem::directory_iterator item{suite_folder(), error}, end;
         !error && item != end; item.increment(error))
        if (item->path().extension() == extension) names.push_back(item->path().stem().string());
    std::ranges::sort(names);
    return names;
}

std::filesystem::path find_suite(std::string_view what) {
    if (what.find('/') != std::string_view::npos || what.ends_with(extension)) return what;
    const auto names = suite_names();
    if (std::ranges::find(names, what) == names.end()) return {};
    return suite_folder() / fmt::format("{}{}", what, extension);
}

} // namespace assay::harness
