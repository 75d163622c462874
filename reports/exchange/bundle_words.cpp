// SPDX-License-Identifier: Apache-2.0

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/evidence.hpp"
#include "exchange/bundle_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace assay::report {
namespace {

std::string finding_in_words(const BundleFinding& finding) {
    auto text = fmt::format("  {}", plain(finding.file));
    if (!finding.where.empty()) text += fmt::format(" {}", plain(finding.where));
    text += fmt::format(": {}",
                        std::string{find_text("evidence", to_string(finding.code)).value_or("")});
    if (!finding.text.empty()) text += fmt::format(" ({})", plain(finding.text));
    return text + "\n";
}

std::string signature_in_words(const CheckedBundle& checked) {
    switch (checked.signature) {
    case SignatureState::by_signer:
        return say<text::evidence::signed_by>(checked.signer);
    case SignatureState::by_somebody:
        return say<text::evidence::signed_by_somebody>(checked.signature_details);
    case SignatureState::wrong:
        return say<text::evidence::wrong_signature>();
    case SignatureState::none:
        break;
    }
    return say<text::evidence::not_signed>();
}

} // namespace

json::Value to_json(const std::filesystem::path& folder, const CheckedBundle& checked) {
    json::Value findings = json::Value::array();
    for (const auto& finding : checked.findings)
        findings.push_back({{"code", std::string{to_string(finding.code)}},
                            {"file", plain(finding.file)},
                            {"where", plain(finding.where)},
                            {"text", plain(finding.text)}});
    return {{"schema", "assay.bundle_check/2"},
            {"bundle", plain(folder.string())},
            {"passed", checked.findings.empty()},
            {"signature", std::string{to_string(checked.signature)}},
            {"signer", checked.signer.empty() ? json::Value(nullptr) : json::Value(checked.signer)},
            {"created", plain(checked.created)},
            {"version", plain(checked.version)},
            {"verdict", plain(checked.verdict)},
            {"files", checked.files},
            {"results", checked.results},
            {"findings", std::move(findings)}};
}

std::string in_words(const std::filesystem::path& folder, const CheckedBundle& checked,
                     std::size_t most) {
    const auto name = plain(folder.string());
    std::string text;
    if (checked.findings.empty())
        text = say_count<text::evidence::holds>(checked.results, name, plain(checked.verdict),
                                                plain(checked.created));
    else
        text = say_count<text::evidence::does_not_hold>(checked.findings.size(), name);
    text += "\n";
    const auto shown = std::min(most, checked.findings.size());
    for (std::size_t i = 0; i < shown; ++i) text += finding_in_words(checked.findings[i]);
    if (checked.findings.size() > shown)
        text += fmt::format("  {}\n", say<text::evidence::more>(checked.findings.size() - shown));
    return text + signature_in_words(checked) + "\n";
}

} // namespace assay::report
