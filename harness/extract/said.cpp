// SPDX-License-Identifier: Apache-2.0
//
// How tools say that their data are wrong: words that no description has to repeat.

#include "extract/said.hpp"

#include <re2/re2.h>

namespace assay::extract {
namespace {

RE2::Options options() {
    RE2::Options made;
    made.set_case_sensitive(false);
    made.set_log_errors(false);
    made.set_encoding(RE2::Options::EncodingLatin1);
    return made;
}

bool finds(std::string_view line, const RE2& pattern) {
    return RE2::PartialMatch(re2::StringPiece{line.data(), line.size()}, pattern);
}

/// A quick answer for most lines: without one of these beginnings nothing is said.
bool may_say(std::string_view line) {
    static const RE2 stems{
        R"(mismatch|miscompar|corrupt|faulty|fail|error|wrong|incorrect|invalid|bad|differ|inconsist|unexpected|lost|assert|out of|not (converge|equal|match|correct)|unsuccess|correctness|exceed|\bnan\b)"
        R"(|abort|fatal|killed|fault|core dumped|timed out|timeout|cannot|unable|exception|xid|cancelled|terminat|traceback|exit code|non-?zero)",
        options()};
    return finds(line, stems) && line.find("NCCL INFO") == std::string_view::npos;
}

/// Without what says that there was no error.
std::string without_praise(std::string_view line) {
    static const RE2 none{
        R"(\b(0|no|zero|without)\s+(\w+\s+){0,2}(errors?|mismatch\w*|miscompares?|failures?|failed|wrong|corrupt\w*|incorrect|invalid|out of bounds)\b)"
        R"(|\b(errors?|mismatch\w*|miscompares?|failures?|failed|wrong|corrupt\w*|incorrect|out of bounds( values?)?)( count| values?)?\s*[:=]\s*(0(\.0*)?(e[-+]?\d+)?|none|no|false|-)(\s|[,;)]|$))"
        // Not a verdict but a measure: "max error in solution: 1.2e-13".
        R"(|\berrors?( (in|of|on) (the )?\w+)?\s*[:=<]*\s*\d+(\.\d+)?(e[-+]?\d+|%)|\berrors?( (in|of|on) (the )?\w+)?\s*[:=<]*\s*\d+\.\d+)"
        R"(|\bif this\b.*|\berror (correct\w*|bars?|bound|rate|log|code|less than)\b|\berrors? than\b|\b(invalid|wrong|incorrect|bad|errors?) 0\b|\bfailed over\b)",
        options()};
    std::string text{line};
    RE2::GlobalReplace(&text, none, " ");
    return text;
}

} // namespace

bool says_wrong(std::string_view line) {
    if (!may_say(line)) return false;
    static const RE2 words{
        R"(\b(mismatch(es|ed)?|miscompare[sd]?|corrupt(ed|ion)?|faulty)\b)"
        R"(|\b(verif\w*|validat\w*|checksums?|crc\w*|residuals?|integrity|consistency|data|pattern|results?|solution|comparison|values?)\b.*\b(fail(ed|s|ure|ures)?|errors?|wrong|incorrect|invalid|bad|inconsistent|differs?|unexpected|lost)\b)"
        R"(|\b(fail(ed|s|ure)?|errors?|wrong|incorrect|invalid|bad|inconsistent|unexpected)\b.*\b(verif\w*|validat\w*|checksums?|crc\w*|residuals?|integrity|comparison|data|pattern|results?|solution|values?)\b)"
        R"(|\bassert(ion)?\b|\b(test|check|self-?test)\b.*\bfail(ed|s|ure)?\b|(^|[:=.\]]\s*)fail(ed|ure)?\W*$|\bout of bounds\b|\bnot (converge[d]?|equal|correct)\b|\bunsuccessful\b.*\bverif|\bverif\w*\b.*\bunsuccessful\b)"
        R"(|\b(results?|values?|data|outputs?|sums?|arrays?|buffers?|solutions?)\b.*\bnot match\b|\bcompar\w*\b.*\bfailed\b|\bcorrectness\b.*\b(no|fail\w*)\b|\bfail\w*\b.*\bcorrectness\b)"
        R"(|\bexceeds? (the )?(tolerance|threshold)\b|\b(contains?|detected|found|produced)\b.*\bnan\b|\bnan\b.*\b(detected|found|in (the )?(results?|outputs?|solution))\b)",
        options()};
    // An input that could not be opened is trouble, and no wrong data.
    static const RE2 other{
        R"(\b(could not|cannot|can't|unable to|failed to|no such|not found|permission|deprecated|unknown option|invalid argument|warn(ing)? -- |(may|might|could|can) (be|lead|cause|differ|give|vary)|differs? from the default|(bad|unexpected) (performance|cpu|frequency|speed))\b)",
        options()};
    const auto text = without_praise(line);
    return finds(text, words) && !finds(text, other);
}

bool says_trouble(std::string_view line) {
    if (!may_say(line)) return false;
    static const RE2 words{
        R"(\b(errors?|failed|failure|fatal|(mpi_)?abort(ed|ing)?|cancelled|terminate called|bad termination|traceback|non-?zero exit|exit code:? [1-9]|killed|segmentation fault|core dumped|bus error|timed out|timeout|out of memory|assert(ion)?|cannot|unable to|exception|xid)\b)",
        options()};
    return finds(without_praise(line), words);
}

} // namespace assay::extract
