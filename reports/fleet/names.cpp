// SPDX-License-Identifier: Apache-2.0

#include "fleet/names.hpp"

#include "base/file.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "document/text.hpp"
#include "record/same_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

namespace assay::report {
namespace {

constexpr std::size_t most_nodes = 1'000'000;
constexpr std::size_t longest_name = 253; // of a host, RFC 1035
constexpr std::size_t longest_file = std::size_t{1} << 26U;

bool is_node(const std::string& name) {
    return !name.empty() && name.size() <= longest_name &&
           std::ranges::all_of(name, [](char c) { return is_word(c, "-_.:"); });
}

/// Each name once. Blanks, commas and lines separate; # begins a comment.
Result<std::vector<std::string>> expand_all(std::string_view text) {
    std::vector<std::string> names;
    std::set<std::string> known;
    for (auto line : split(text, '\n')) {
        line = line.substr(0, line.find('#'));
        while (!line.empty()) {
            const auto end = find_outside_brackets(line, ", \t\r");
            const auto word = line.substr(0, end);
            line.remove_prefix(std::min(line.size(), word.size() + 1));
            if (word.empty()) continue;
            auto made = expand_ranges(word, most_nodes);
            if (!made) return made;
            for (auto& name : *made) {
                if (!is_node(name))
                    return fail(fmt::format("\"{}\" is no name of a node: letters, digits, '-', "
                                            "'_', '.' and ranges as in node[01-40]",
                                            plain(word, 100)));
                if (names.size() >= most_nodes)
                    return fail(fmt::format("more than {} nodes", most_nodes));
                if (known.insert(name).second) names.push_back(std::move(name));
            }
        }
    }
    return names;
}

std::string_view short_name(std::string_view host) { return host.substr(0, host.find('.')); }

} // namespace

Result<std::vector<std::string>> expand_nodes(std::string_view text) {
    auto names = expand_all(text);
    if (names && names->empty()) return fail("no node is named");
    return names;
}

Result<std::vector<std::string>> parse_nodes(std::string_view text, std::string_view source) {
    auto names = expand_all(text);
    if (!names) return fail(fmt::format("{}: {}", source, names.error().message));
    if (names->empty())
        return fail(fmt::format("{}: no node is named; a line is node07 or node[01-40]", source));
    return names;
}

Result<std::vector<std::string>> read_nodes(const std::filesystem::path& path) {
    ASSAY_TRY(const auto text, read_whole(path, longest_file));
    return parse_nodes(text, path.string());
}

NodeNames::NodeNames(std::vector<std::string> expected)
    : expected_{std::move(expected)}, sorted_{expected_} {
    std::ranges::sort(sorted_);
}

bool NodeNames::is_expected(const std::string& name) const {
    return std::ranges::binary_search(sorted_, name);
}

std::string NodeNames::of_host(std::string_view host) const {
    std::string name = plain(host, longest_name);
    if (is_expected(name)) return name;
    std::string brief{short_name(name)};
    if (is_expected(brief)) return brief;
    // The list has domains and the node says none: only where a single one begins so.
    const auto first = std::ranges::lower_bound(sorted_, brief + ".");
    if (first != sorted_.end() && short_name(*first) == brief && name == brief) {
        const auto next = first + 1;
        if (next == sorted_.end() || short_name(*next) != brief) return *first;
    }
    return name;
}

NodeName NodeNames::of_run(const Collection& collection, const RunInfo& run) const {
    const auto& machine = collection.machines[run.machine];
    if (const auto name = record::node_name(machine, run.tags); !name.empty()) {
        const bool by_tag = name == record::text(run.tags, record::node_tag);
        return {of_host(name), by_tag ? NameSource::tag : NameSource::node};
    }
    if (!machine.hostname.empty()) return {of_host(machine.hostname), NameSource::host};
    if (auto folder = of_path(run.file); !folder.empty())
        return {std::move(folder), NameSource::folder};
    return {plain(machine.id, 60), NameSource::machine};
}

std::string NodeNames::of_path(const std::filesystem::path& path,
                               const std::vector<std::string>& also) const {
    std::string found;
    for (const auto& part : path.parent_path()) { // the deepest one
        const auto name = of_host(part.string());
        if (is_expected(name) || std::ranges::binary_search(also, name)) found = name;
    }
    return found;
}

} // namespace assay::report
