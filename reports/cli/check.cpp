// SPDX-License-Identifier: Apache-2.0

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/judge.hpp"
#include "exchange/data.hpp"
#include "exchange/plugin.hpp"
#include "files.hpp"
#include "fleet/document.hpp"
#include "fleet/fleet.hpp"
#include "judge/judge.hpp"
#include "judge/words.hpp"
#include "store/find.hpp"
#include "verbs.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace assay::reports_cli {
namespace {

Result<void> write_extras(const CheckWords& asked, const judge::Judgement& judgement,
                          const std::vector<store::Input>& inputs) {
    const std::pair<const std::filesystem::path&, std::string (*)(const judge::Judgement&)>
        files[] = {{asked.junit, &exchange::to_junit},
                   {asked.openmetrics, &exchange::to_openmetrics}};
    for (const auto& [path, render] : files) ASSAY_TRY(check_output(path, inputs));
    for (const auto& [path, render] : files) {
        if (path.empty()) continue;
        ASSAY_TRY(write(path, render(judgement)));
    }
    return {};
}

Result<ExitCode> check_as(const Options& options, exchange::ExitStyle style) {
    const auto& asked = options.checking;
    std::vector<store::Input> inputs; // no output may replace one of them
    ASSAY_TRY(auto limits, limits_of(asked, inputs));
    auto how = collecting_for(limits, options.collecting);
    how.unfinished = true; // a run that began and has no result is named
    ASSAY_TRY(auto collection, collect(options.inputs, how));
    if (!asked.machine_of.empty()) ASSAY_TRY(keep_machine_of(collection, asked.machine_of));
    for (const auto& run : collection.runs) inputs.push_back({.label = "", .file = run.file});
    if (asked.limits.empty() && are_soaks(collection)) limits = {};
    auto judging = asked.judging;
    from_text(asked.part, judging.part); // options.cpp has refused others
    ASSAY_TRY(const auto judgement,
              judge::judge(std::move(collection), std::move(limits), judging));
    ASSAY_TRY(write_extras(asked, judgement, inputs));
    const int code = exit_code_of(judgement.outcome, style);
    const Outputs outputs{.documents = [&] { return std::vector{make_document(judgement)}; },
                          .json = {},
                          .csv = [&] { return exchange::to_csv(judgement); },
                          .brief = style == exchange::ExitStyle::assay
                                       ? std::function<std::string()>{}
                                       : [&] { return plugin_output(judgement, style); },
                          .written = !asked.junit.empty() || !asked.openmetrics.empty(),
                          .long_json =
                              [&](const Sink& sink) {
                                  return exchange::write_json(judgement, asked.advisory ? 0 : code,
                                                              sink);
                              }};
    ASSAY_TRY(deliver(options, outputs, inputs));
    if (!asked.advisory) return static_cast<ExitCode>(code); // a plugin's, too
    if (code != 0) print_error(document::say<text::judge::advisory>(code) + "\n");
    return ExitCode::done;
}

Result<fleet::FleetOptions> fleet_options(const Options& options,
                                          std::vector<store::Input>& inputs) {
    auto how = options.fleet.how;
    if (options.fleet.expect) {
        const auto& expect = *options.fleet.expect;
        // A file, or the nodes themselves.
        std::error_code ignored;
        const bool is_file = std::filesystem::exists(expect, ignored);
        auto nodes = is_file ? fleet::read_nodes(expect) : fleet::expand_nodes(expect);
        if (!nodes) {
            if (is_file) return fail("--expect " + nodes.error().message);
            return fail(fmt::format("--expect: '{}' is neither a file nor a list of nodes: {}",
                                    plain(expect, 200), nodes.error().message));
        }
        if (is_file) inputs.push_back({.label = "", .file = expect});
        how.expected = std::move(*nodes);
    }
    ASSAY_TRY(const auto since, since_of(options));
    if (since) how.since = since;
    return how;
}

ExitCode code_of_fleet(const fleet::Fleet& fleet, const Options& options) {
    if (options.fail_on == "slow" && has_slow(fleet)) return ExitCode::failed;
    return is_open(fleet) ? ExitCode::inconclusive : ExitCode::done;
}

} // namespace

Result<judge::Limits> limits_of(const CheckWords& asked, std::vector<store::Input>& inputs) {
    const auto names = asked.limits.empty() ? std::vector<std::string>{"spec"} : asked.limits;
    std::vector<judge::LimitsFile> files;
    for (const auto& name : names) {
        ASSAY_TRY(const auto path, judge::find_limits(name));
        ASSAY_TRY(auto file, judge::read_limits(path));
        files.push_back(std::move(file));
        inputs.push_back({.label = "", .file = path});
    }
    return layered(std::move(files));
}

Result<ExitCode> check_nodes(const Options& options) {
    const auto style =
        exchange::exit_style_from(options.checking.exit_style).value_or(exchange::ExitStyle::assay);
    auto code = check_as(options, style);
    if (code || style == exchange::ExitStyle::assay) return code;
    // Their own codes of "unknown": what is wrong with the command says nothing about the node.
    ASSAY_TRY(print(plugin_output(code.error(), style)));
    return static_cast<ExitCode>(
        options.checking.advisory ? 0 : exit_code_of(judge::Outcome::inconclusive, style));
}

Result<ExitCode> fleet_of_nodes(const Options& options) {
    std::vector<store::Input> inputs; // no output may replace one of them
    ASSAY_TRY(const auto how, fleet_options(options, inputs));
    ASSAY_TRY(auto collection,
              collect(options.inputs, fleet::collecting_for_fleet(options.collecting)));
    for (const auto& run : collection.runs) inputs.push_back({.label = "", .file = run.file});
    ASSAY_TRY(const auto fleet, make_fleet(std::move(collection), how));
    const auto code = code_of_fleet(fleet, options);
    const Outputs outputs{.documents = [&] { return std::vector{make_document(fleet)}; },
                          .json = [&] { return to_json(fleet, static_cast<int>(code)); },
                          .csv = [&] { return to_csv(fleet); }};
    ASSAY_TRY(deliver(options, outputs, inputs));
    return code;
}

} // namespace assay::reports_cli
