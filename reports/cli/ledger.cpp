// SPDX-License-Identifier: Apache-2.0

#include "evidence/ledger.hpp"

#include "base/console.hpp"
#include "evidence/check.hpp"
#include "evidence/contents.hpp"
#include "evidence/derived.hpp"
#include "export/judgement_data.hpp"
#include "files.hpp"
#include "judge/plugin.hpp"
#include "language/language.hpp"
#include "language/texts/evidence.hpp"
#include "verbs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

namespace assay::report {
namespace {

/// Judged anew; of a bundle by its own limits, if it holds.
Result<std::vector<LedgerEntry>> entries_in_bundle(const Options& options,
                                                   const std::filesystem::path& folder) {
    const auto checked = check_bundle(folder, options.evidence.signers);
    if (!checked) return tl::unexpected{checked.error()};
    if (!checked->findings.empty())
        return fail(fmt::format("{} does not hold, so it is not added; `assay verify {}` says more",
                                folder.string(), folder.string()),
                    Fault::benchmark);
    const auto statement = read_statement(folder);
    if (!statement) return tl::unexpected{statement.error()};
    const auto verdict =
        verdict_of_bundle(folder, statement->predicate.limits, statement->predicate.created);
    if (!verdict) return tl::unexpected{verdict.error()};
    return entries_of(*verdict, folder);
}

Result<std::vector<LedgerEntry>> entries_in_runs(const Options& options,
                                                 const std::vector<std::string>& runs) {
    std::vector<Input> inputs;
    auto limits = limits_of(options.checking, inputs);
    if (!limits) return tl::unexpected{limits.error()};
    auto collection = collect(runs, collecting_for(*limits, options.collecting));
    if (!collection) return tl::unexpected{collection.error()};
    for (const auto& problem : collection->problems)
        print_error(
            fmt::format("assay-report: not added: {}: {}\n", problem.where, problem.reason));
    if (options.checking.limits.empty() && are_soaks(*collection)) *limits = {};
    const auto judgement = judge(std::move(*collection), std::move(*limits));
    if (!judgement) return tl::unexpected{judgement.error()};
    const auto verdict = json::parse(
        to_json(*judgement, exit_code_of(judgement->outcome, ExitStyle::assay)), "verdict");
    if (!verdict) return tl::unexpected{verdict.error()};
    return entries_of(*verdict, "");
}

Result<ExitCode> add(const Options& options) {
    std::vector<std::string> runs;
    std::vector<LedgerEntry> entries;
    const auto take = [&](Result<std::vector<LedgerEntry>> more) -> Result<void> {
        if (!more) return tl::unexpected{more.error()};
        std::ranges::move(*more, std::back_inserter(entries));
        return {};
    };
    for (const auto& input : options.inputs) {
        if (!is_bundle(input))
            runs.push_back(input);
        else if (auto done = take(entries_in_bundle(options, input)); !done)
            return tl::unexpected{done.error()};
    }
    if (!runs.empty())
        if (auto done = take(entries_in_runs(options, runs)); !done)
            return tl::unexpected{done.error()};
    const auto done = add_to_ledger(options.evidence.ledger, std::move(entries), utc_now());
    if (!done) return tl::unexpected{done.error()};
    if (options.json) {
        json::Value before = json::Value::array();
        for (const auto& entry : done->before) before.push_back(entry.number);
        if (auto shown = print_json(json::to_text({{"schema", "assay.ledger_added/1"},
                                                   {"added", done->added},
                                                   {"known", done->known},
                                                   {"head", done->head},
                                                   {"seen_before", std::move(before)}}));
            !shown)
            return tl::unexpected{shown.error()};
        return ExitCode::done;
    }
    auto text = say_count<text::evidence::added>(done->added, done->known) + "\n";
    for (const auto& entry : done->before)
        text += fmt::format("  {}\n", say<text::evidence::seen_before>(
                                          entry.host.empty() ? entry.machine : entry.host,
                                          entry.measured, entry.verdict));
    text += say<text::evidence::head>(done->head) + "\n";
    if (auto shown = print(text); !shown) return tl::unexpected{shown.error()};
    return ExitCode::done;
}

Result<ExitCode> show(const Options& options) {
    const auto ledger = read_ledger(options.evidence.ledger);
    if (!ledger) return tl::unexpected{ledger.error()};
    if (!ledger->findings.empty())
        return fail(fmt::format("{} does not hold (line {}: {}); `assay ledger verify` says more",
                                options.evidence.ledger.string(), ledger->findings.front().line,
                                to_string(ledger->findings.front().code)),
                    Fault::benchmark);
    const auto about = options.inputs.empty() ? std::string{} : options.inputs.front();
    const auto entries = entries_about(*ledger, about);
    const Outputs outputs{.documents = [&] { return std::vector{make_document(entries, about)}; },
                          .json = [&] { return json::to_text(to_json(entries, ledger->head)); },
                          .csv = {}};
    const std::vector<Input> inputs{{.label = "", .file = options.evidence.ledger}};
    if (auto done = deliver(options, outputs, inputs); !done) return tl::unexpected{done.error()};
    return ExitCode::done;
}

Result<ExitCode> check(const Options& options) {
    const auto ledger = read_ledger(options.evidence.ledger, options.evidence.head);
    if (!ledger) return tl::unexpected{ledger.error()};
    const auto name = plain(options.evidence.ledger.string());
    json::Value findings = json::Value::array();
    std::string text =
        ledger->findings.empty()
            ? say_count<text::evidence::ledger_holds>(ledger->entries.size(), name)
            : say_count<text::evidence::does_not_hold>(ledger->findings.size(), name);
    text += "\n";
    for (const auto& finding : ledger->findings) {
        const std::string code{to_string(finding.code)};
        findings.push_back({{"code", code}, {"line", finding.line}, {"text", plain(finding.text)}});
        text += fmt::format("  {}:{}: {}{}\n", name, finding.line,
                            find_text("evidence", code).value_or(code),
                            finding.text.empty() ? "" : fmt::format(" ({})", plain(finding.text)));
    }
    text += say<text::evidence::head>(ledger->head) + "\n";
    const auto done = options.json ? print_json(json::to_text({{"schema", "assay.ledger_check/1"},
                                                               {"passed", ledger->findings.empty()},
                                                               {"entries", ledger->entries.size()},
                                                               {"head", ledger->head},
                                                               {"findings", std::move(findings)}}))
                                   : print(text);
    if (!done) return tl::unexpected{done.error()};
    return ledger->findings.empty() ? ExitCode::done : ExitCode::failed;
}

} // namespace

Result<ExitCode> ledger(const Options& options) {
    const auto& action = options.evidence.action;
    if (action == "add") return add(options);
    return action == "show" ? show(options) : check(options);
}

} // namespace assay::report
