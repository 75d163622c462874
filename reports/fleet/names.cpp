// SPDX-License-Identifier: Apache-2.0

#include "fleet/names.hpp"

#include "base/file.hpp"
#include "record/same_machine.hpp"
#include "report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

namespace assay::report {
namespace {

constexpr std::size_t most_nodes = 1'000'000;
constexpr std::size_t longest_name = 253; // of a host, RFC 1035
constexpr std::size_t longest_file = std::size_t{1} << 26U;

/// "01-40" or "43": numbers with their zeros.
Result<void> expand_range(std::string_view range, std::string_view whole, const auto& add) {
    const auto dash = range.find('-');
    const auto from = range.substr(0, dash);
    const auto to = dash == range.npos ? from : range.substr(dash + 1);
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    const auto is_number = [](std::string_view text, std::uint64_t& out) {
        const auto* end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, out);
        return error == std::errc{} && stop == end;
    };
    if (!is_number(from, low) || !is_number(to, high) || high < low)
        return fail(fmt::format("\"{}\": \"{}\" is no range; one is [01-40]", plain(whole, 100),
                                plain(range, 60)));
    if (high - low >= most_nodes)
        return fail(fmt::format("\"{}\": more than {} nodes", plain(whole, 100), most_nodes));
    for (auto number = low; number <= high; ++number)
        if (auto done = add(fmt::format("{:0{}}", number, from.size())); !done) return done;
    return {};
}

class Expander {
public:
    Result<void> add(std::string_view text) { return add(text, "", text); }
    std::vector<std::string> names;

private:
    /// `so_far`: what stands in front, already expanded.
    // NOLINTNEXTLINE(misc-no-recursion): as deep as a name has brackets
    Result<void> add(std::string_view text, const std::string& so_far, std::string_view whole) {
        const auto open = text.find('[');
        if (open == text.npos) return take(so_far + std::string{text}, whole);
        const auto close = text.find(']', open);
        if (close == text.npos || close == open + 1)
            return fail(fmt::format("\"{}\": a bracket that does not close, or is empty",
                                    plain(whole, 100)));
        const auto front = so_far + std::string{text.substr(0, open)};
        auto list = text.substr(open + 1, close - open - 1);
        for (bool more = true; more;) {
            const auto comma = list.find(',');
            more = comma != list.npos;
            auto done = expand_range(list.substr(0, comma), whole, [&](const std::string& number) {
                return add(text.substr(close + 1), front + number, whole);
            });
            if (!done) return done;
            if (more) list.remove_prefix(comma + 1);
        }
        return {};
    }
    Result<void> take(std::string name, std::string_view whole) {
        const auto is_fine = [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                   c == '-' || c == '_' || c == '.' || c == ':';
        };
        if (name.empty() || name.size() > longest_name || !std::ranges::all_of(name, is_fine))
            return fail(fmt::format("\"{}\" is no name of a node: letters, digits, '-', '_', '.' "
                                    "and ranges as in node[01-40]",
                                    plain(whole, 100)));
        if (names.size() >= most_nodes) return fail(fmt::format("more than {} nodes", most_nodes));
        if (known_.insert(name).second) names.push_back(std::move(name));
        return {};
    }
    std::set<std::string> known_;
};

/// Words, where a comma between brackets separates nothing.
Result<std::vector<std::string>> expand_all(std::string_view text) {
    Expander expander;
    std::size_t begin = 0;
    int depth = 0;
    bool comment = false;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        const char c = i < text.size() ? text[i] : '\n';
        depth += c == '[' ? 1 : c == ']' ? -1 : 0;
        const bool is_end = c == '\n' || c == '\r';
        if (is_end) depth = 0;
        if (!is_end && c != '#' && c != ' ' && c != '\t' && (c != ',' || depth > 0)) continue;
        if (i > begin && !comment)
            if (auto done = expander.add(text.substr(begin, i - begin)); !done)
                return tl::unexpected{done.error()};
        begin = i + 1;
        comment = (comment || c == '#') && !is_end;
    }
    return std::move(expander.names);
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
    const auto text = read_whole(path, longest_file);
    if (!text) return tl::unexpected{text.error()};
    return parse_nodes(*text, path.string());
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
