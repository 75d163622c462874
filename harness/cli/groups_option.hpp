// SPDX-License-Identifier: Apache-2.0
//
// The options for hosts that share a switch, a rail, a rack.

#pragma once

#include "base/file.hpp"
#include "plan/groups.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace assay::cli {

/// `refuse`: throws what the option parser shows.
template <class App, class Refuse>
void add_groups(App& verb, std::vector<harness::HostGroups>& groups, Refuse refuse) {
    const auto take = [&groups, refuse](const char* option, const std::string& text,
                                        const std::string& source) {
        auto parsed = harness::parse_groups(text, source);
        if (!parsed) refuse(option, parsed.error().message);
        groups = std::move(*parsed);
    };
    auto* file =
        verb.template add_option_function<std::string>(
                "--groups",
                [take, refuse](const std::string& path) {
                    constexpr std::size_t most = std::size_t{16} << 20U;
                    const auto text = read_whole(path, most);
                    if (!text) refuse("--groups", text.error().message);
                    take("--groups", *text, path);
                },
                "Which hosts share what, for reports to say what is slow: lines of HOST,... and "
                "KIND=NAME, as in node1,node2 switch=leaf1 rail=0")
            ->type_name("FILE");
    verb.template add_option_function<std::vector<std::string>>(
            "--group",
            [take, refuse](const std::vector<std::string>& texts) {
                std::string lines;
                for (const auto& text : texts) {
                    const auto line = harness::group_line(text);
                    if (!line) refuse("--group", line.error().message);
                    lines += *line + '\n';
                }
                take("--group", lines, "--group");
            },
            "One of these groups; any number of times: switch:leaf1=node1,node2")
        ->type_name("KIND:NAME=HOST,...")
        ->allow_extra_args(false)
        ->excludes(file);
}

} // namespace assay::cli
