// SPDX-License-Identifier: Apache-2.0
//
// Does a bundle of evidence hold? Without network: the signature, that nothing is missing and nothing beyond it, every
// digest, every figure of the results from its samples, and the verdict from results and limits.

#pragma once

#include "base/result.hpp"
#include "json/json.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay::report {

/// For programs: these stay as they are. What each means: evidence.json of language/texts.
enum class BundleCode : std::uint8_t {
    missing_file,    // the manifest or the statement names it
    extra_file,      // neither names it
    not_a_file,      // a link or another thing that is not opened
    wrong_digest,    // the file is not what the manifest says
    wrong_subject,   // nor what the statement says
    wrong_statement, // the statement contradicts itself or the results
    wrong_figures,   // a result does not follow from its samples
    wrong_verdict,   // the verdict does not follow from results and limits
    wrong_inventory,
    wrong_signature,
    no_signature, // though signers were named
};
std::string_view to_string(BundleCode code);

struct BundleFinding {
    BundleCode code = BundleCode::missing_file;
    std::string file;
    std::string where; ///< place in it; may be empty
    std::string text;  ///< more, in English; may be empty
};

enum class SignatureState : std::uint8_t {
    none,
    by_somebody, // it holds, and nobody said whose key it is
    by_signer,
    wrong,
};
std::string_view to_string(SignatureState state);

struct CheckedBundle {
    std::vector<BundleFinding> findings;
    std::size_t files = 0;
    std::size_t results = 0;
    std::size_t hidden = 0;            ///< leaves of results, digests included
    std::vector<std::string> withheld; ///< logs that the statement names and that are not there
    SignatureState signature = SignatureState::none;
    std::string signer;
    std::string signature_details;
    std::string verdict; ///< as stated
    std::string created;
    std::string version;
};

/// Fails where there is no bundle, or none that can be read. `signers`: an allowed_signers file, or empty.
Result<CheckedBundle> check_bundle(const std::filesystem::path& folder,
                                   const std::filesystem::path& signers);

/// Schema assay.bundle_check/1 (schema/bundle_check.json).
json::Value to_json(const std::filesystem::path& folder, const CheckedBundle& checked);
/// Lines for people, at most `most` findings.
std::string in_words(const std::filesystem::path& folder, const CheckedBundle& checked,
                     std::size_t most);

} // namespace assay::report
