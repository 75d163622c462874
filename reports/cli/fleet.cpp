// SPDX-License-Identifier: Apache-2.0

#include "fleet/fleet.hpp"

#include "files.hpp"
#include "fleet/data.hpp"
#include "fleet/document.hpp"
#include "history/dates.hpp"
#include "report/input.hpp"
#include "report/text.hpp"
#include "store/collection.hpp"
#include "verbs.hpp"

#include <fmt/core.h>

#include <string>
#include <utility>
#include <vector>

namespace assay::report {
namespace {

Result<FleetOptions> options_of(const Options& options, std::vector<Input>& inputs) {
    auto how = options.fleet.how;
    if (const auto& expect = options.fleet.expect; !expect.empty()) {
        // A file, or the nodes themselves.
        std::error_code ignored;
        const bool is_file = std::filesystem::exists(expect, ignored);
        auto nodes = is_file ? read_nodes(expect) : expand_nodes(expect);
        if (!nodes) {
            if (is_file) return tl::unexpected{nodes.error()};
            return fail(fmt::format("--expect \"{}\": no such file, and no list of nodes: {}",
                                    plain(expect, 200), nodes.error().message));
        }
        if (is_file) inputs.push_back({.label = "", .file = expect});
        how.expected = std::move(*nodes);
    }
    if (!options.since.empty()) {
        const auto since = seconds_of_date(options.since);
        if (!since)
            return fail(
                fmt::format("--since \"{}\" is no date; one is 2026-01-31", plain(options.since)));
        how.since = *since;
    }
    return how;
}

ExitCode code_of(const Fleet& fleet, const Options& options) {
    if (options.fail_on == "slow" && has_slow(fleet)) return ExitCode::failed;
    return is_open(fleet) ? ExitCode::inconclusive : ExitCode::done;
}

} // namespace

Result<ExitCode> fleet_of_nodes(const Options& options) {
    std::vector<Input> inputs; // no output may replace one of them
    const auto how = options_of(options, inputs);
    if (!how) return tl::unexpected{how.error()};
    auto collection = collect(options.inputs, collecting_for_fleet(options.collecting));
    if (!collection) return tl::unexpected{collection.error()};
    for (const auto& run : collection->runs) inputs.push_back({.label = "", .file = run.file});
    const auto fleet = make_fleet(std::move(*collection), *how);
    if (!fleet) return tl::unexpected{fleet.error()};
    const auto code = code_of(*fleet, options);
    const Outputs outputs{.documents = [&] { return std::vector{make_document(*fleet)}; },
                          .json = [&] { return to_json(*fleet, static_cast<int>(code)); },
                          .csv = [&] { return to_csv(*fleet); }};
    if (auto done = deliver(options, outputs, inputs); !done) return tl::unexpected{done.error()};
    return code;
}

} // namespace assay::report
