// SPDX-License-Identifier: Apache-2.0

#include "document/texts/verify.hpp"

#include "decide/check.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "exchange/bundle_check.hpp"
#include "exchange/bundle_files.hpp"
#include "files.hpp"
#include "json/json.hpp"
#include "store/input.hpp"
#include "verbs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace assay::reports_cli {

using namespace document;
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_shown = 50; // lines; --json has all

/// The problem with one file, in words and as JSON.
struct Verdict {
    std::string text;
    json::Value value;
    bool passed = true;
};

Verdict verdict_of(const fs::path& file, const decide::Checked& checked) {
    const auto& findings = checked.findings;
    const std::string name = plain(file.string());
    Verdict verdict{.passed = findings.empty()};
    json::Value list = json::Value::array();
    for (const auto& finding : findings) {
        list.push_back({{"path", plain(finding.path)}, {"text", plain(finding.text)}});
        if (!finding.code.empty()) list.back()["code"] = finding.code;
    }
    verdict.value = {{"file", name},
                     {"passed", verdict.passed},
                     {"has_digests", checked.has_digests},
                     {"findings", std::move(list)}};
    if (findings.empty()) {
        verdict.text = (checked.has_digests ? say<text::verify::consistent>(name)
                                            : say<text::verify::no_digests>(name)) +
                       "\n";
        return verdict;
    }
    verdict.text = say_count<text::verify::wrong>(findings.size(), name) + "\n";
    for (std::size_t i = 0; i < std::min(findings.size(), most_shown); ++i)
        verdict.text += fmt::format("  {}: {}\n", plain(findings[i].path), plain(findings[i].text));
    if (findings.size() > most_shown)
        verdict.text +=
            fmt::format("  {}\n", say<text::verify::more>(findings.size() - most_shown));
    return verdict;
}

/// A folder of evidence.
Result<ExitCode> verify_bundle(const Options& options) {
    const fs::path folder{options.inputs.front()};
    ASSAY_TRY(const auto checked, exchange::check_bundle(folder, options.evidence.signers));
    ASSAY_TRY(options.json ? print_json(json::to_text(to_json(folder, checked)))
                           : print(in_words(folder, checked, most_shown)));
    return checked.findings.empty() ? ExitCode::done : ExitCode::failed;
}

} // namespace

Result<ExitCode> verify(const Options& options) {
    if (options.inputs.size() == 1 && exchange::is_bundle(options.inputs.front()))
        return verify_bundle(options);
    for (const auto& input : options.inputs)
        for (const auto* const ending : {".tar", ".tar.gz", ".tgz", ".zip"})
            if (input.ends_with(ending))
                return fail(
                    fmt::format("{} is an archive; unpack it and verify the folder", plain(input)));
    if (!options.evidence.signers.empty())
        return fail("--signers needs one evidence folder, as written by assay export --bundle");
    ASSAY_TRY(const auto inputs, store::find_inputs(options.inputs));
    json::Value list = json::Value::array();
    std::string text;
    bool passed = true;
    for (const auto& input : inputs) {
        ASSAY_TRY(const auto checked, decide::verify_run(input.file));
        auto verdict = verdict_of(input.file, checked);
        passed = passed && verdict.passed;
        text += verdict.text;
        list.push_back(std::move(verdict.value));
    }
    if (options.json)
        text = json::to_text(
            {{"schema", "assay.verify/1"}, {"passed", passed}, {"files", std::move(list)}});
    ASSAY_TRY(options.json ? print_json(text) : print(text));
    return passed ? ExitCode::done : ExitCode::failed;
}

} // namespace assay::reports_cli
