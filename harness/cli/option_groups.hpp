// SPDX-License-Identifier: Apache-2.0
//
// Options that belong together, apart from options.cpp, which alone includes the option parser: what they need of it
// is a parameter.

#pragma once

#include "base/command_line.hpp"
#include "base/file.hpp"
#include "base/quantity.hpp"
#include "plan/groups.hpp"
#include "record/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::cli {

// --- machines that the provider may take back

template <class App>
void add_preemption(App& verb, std::string& watch) {
    add_value(verb, "--watch-preemption", watch, "ec2|gce|azure|alibaba|tencent|URL",
              "Stop in order (exit code 5) when the cloud announces preemption; URL: http://...");
}

// --- programs that benchmarks start

template <class App>
void add_install(App& verb, bool& install, bool& yes) {
    auto* option = verb.add_flag("--install", install,
                                 "Print the command that installs the programs it needs");
    verb.add_flag("--yes", yes, "With --install: execute the command")->needs(option);
}

template <class App>
void add_allowed_devices(App& verb, std::vector<std::string>& devices) {
    add_many(verb, "--allow-device", devices, "PATH",
             "Allow benchmarks to overwrite this block device; its data is lost: /dev/nvme1n1");
}

// --- hosts that share a switch, a rail, a rack

/// `refuse`: throws what the option parser shows.
template <class App, class Refuse>
void add_groups(App& verb, std::vector<plan::HostGroups>& groups, Refuse refuse) {
    const auto take = [&groups, refuse](const char* option, const std::string& text,
                                        const std::string& source) {
        auto parsed = plan::parse_groups(text, source);
        if (!parsed) refuse(option, parsed.error().message);
        groups = std::move(*parsed);
    };
    auto* file = verb.template add_option_function<std::string>(
                         "--groups",
                         [take, refuse](const std::string& path) {
                             constexpr std::size_t most = std::size_t{16} << 20U;
                             const auto text = read_text(path, most);
                             if (!text) refuse("--groups", text.error().message);
                             take("--groups", *text, path);
                         },
                         "Hosts that share a switch, rail or rack: lines such as "
                         "node1,node2 switch=leaf1 rail=0")
                     ->type_name("FILE");
    verb.template add_option_function<std::vector<std::string>>(
            "--group",
            [take, refuse](const std::vector<std::string>& texts) {
                std::string lines;
                for (const auto& text : texts) {
                    const auto line = plan::group_line(text);
                    if (!line) refuse("--group", line.error().message);
                    lines += *line + '\n';
                }
                take("--group", lines, "--group");
            },
            "One such group: switch:leaf1=node1,node2")
        ->type_name("KIND:NAME=HOST,...")
        ->allow_extra_args(false)
        ->excludes(file);
}

// --- what a plan costs on many nodes

template <class App, class Check>
void add_sweep(App& verb, std::optional<int>& nodes, std::optional<double>& price,
               const Check& is_count, const Check& is_price) {
    add_value(verb, "--nodes", nodes, "N",
              "Show the cost of this plan on N nodes, each measured by itself")
        ->check(is_count);
    add_value(verb, "--price", price, "PRICE", "Price per node and hour, in any currency")
        ->check(is_price);
}

// --- hours of load

template <class App, class Problem>
void add_soak(App& verb, std::optional<double>& seconds) {
    auto* option = verb.template add_option_function<std::string>(
        "--for",
        [&seconds](const std::string& text) {
            const auto given = parse_duration(text);
            if (!given) throw Problem("--for", given.error().message);
            seconds = *given;
        },
        "Soak: repeat the cases for this time and compare every result: 20m, 24h");
    option->type_name("TIME");
    for (const char* other : {"--budget", "--replicas", "--interleave", "--while"})
        option->excludes(verb.get_option(other));
}

// --- the occasion of a run

// Limits of --tag and --note: what a heading or a file name can hold, and a run's record shows in one place.
inline constexpr std::size_t longest_tag_key = 40;
inline constexpr std::size_t longest_tag_value = 200;
inline constexpr std::size_t most_tags = 32;
inline constexpr std::size_t longest_note = 1000;

/// Nor the control characters behind ASCII (U+0080 to U+009F), which some terminals obey.
inline bool is_printable(std::string_view text) {
    const auto is_control = [](unsigned char c) { return c < ' ' || c == 0x7f; };
    const auto is_late = [](unsigned char a, unsigned char b) {
        return a == 0xc2 && b >= 0x80 && b < 0xa0;
    };
    return std::ranges::none_of(text, is_control) &&
           std::ranges::adjacent_find(text, is_late) == text.end();
}

/// The problem of a name that a record keeps, for CLI11; empty if the name is valid.
inline std::string why_no_name(const std::string& text) {
    return !text.empty() && text.size() <= longest_tag_value && is_printable(text)
               ? ""
               : fmt::format("expected 1 to {} bytes without control characters",
                             longest_tag_value);
}

template <class Problem>
void add_tag(record::Values& tags, const std::string& text) {
    const auto wrong = [&](const std::string& what) {
        throw Problem("--tag", fmt::format("\"{}\": {}", text, what));
    };
    const auto equals = text.find('=');
    if (equals == text.npos) wrong("expected KEY=VALUE, as in rack=b7");
    const auto key = text.substr(0, equals);
    const auto value = text.substr(equals + 1);
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
    };
    if (key.empty() || key.size() > longest_tag_key || !std::ranges::all_of(key, fits))
        wrong(fmt::format("the key must be 1 to {} of a-z, 0-9, _, . and -", longest_tag_key));
    if (value.empty() || value.size() > longest_tag_value || !is_printable(value))
        wrong(fmt::format("the value must be 1 to {} bytes without control characters",
                          longest_tag_value));
    if (record::find(tags, key) != nullptr) wrong("the key is given twice");
    if (tags.size() == most_tags) wrong(fmt::format("at most {} tags", most_tags));
    tags.push_back({key, value});
}

/// Options for the occasion of a run.
template <class App, class Problem>
void add_occasion(App& verb, std::string& campaign, std::string& note, record::Values& tags) {
    add_default(verb, "--campaign", campaign, "NAME", "Name of the campaign this run belongs to")
        ->check(why_no_name, "");
    verb.template add_option_function<std::string>(
            "--note",
            [&note](const std::string& text) {
                if (text.empty() || text.size() > longest_note || !is_printable(text))
                    throw Problem("--note",
                                  fmt::format("expected 1 to {} bytes without control characters",
                                              longest_note));
                note = text;
            },
            "A note about this run, kept in its record")
        ->type_name("TEXT");
    verb.template add_option_function<std::vector<std::string>>(
            "--tag",
            [&tags](const std::vector<std::string>& texts) {
                for (const auto& text : texts) add_tag<Problem>(tags, text);
            },
            "Tag to group and filter runs by in reports (--column tag.KEY)")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
}

} // namespace assay::cli
