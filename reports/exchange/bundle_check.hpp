// SPDX-License-Identifier: Apache-2.0
//
// Does a bundle of evidence hold? Without network: the signature, that nothing is missing and nothing beyond it, every
// digest, every figure of the results from its samples, and the verdict from results and limits.

#pragma once

#include "base/names.hpp"
#include "base/result.hpp"
#include "json/json.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay::exchange {

/// For programs: these stay as they are. Meanings: evidence.json of document/texts.
ASSAY_ENUM(BundleCode,
           missing_file,  // the manifest names it
           extra_file,    // the manifest does not name it
           not_a_file,    // a link or another thing that is not opened
           wrong_digest,  // the file is not what the manifest says
           wrong_figures, // a result does not follow from its samples
           wrong_verdict, // the verdict does not follow from results and limits
           wrong_signature,
           no_signature) // though signers were named

struct BundleFinding {
    BundleCode code = BundleCode::missing_file;
    std::string file;
    std::string where; ///< place in it; may be empty
    std::string text;  ///< more, in English; may be empty
};

ASSAY_ENUM(SignatureState, none,
           by_somebody, // it holds, and nobody said whose key it is
           by_signer, wrong)

struct CheckedBundle {
    std::vector<BundleFinding> findings;
    std::size_t files = 0;
    std::size_t results = 0;
    SignatureState signature = SignatureState::none;
    std::string signer;
    std::string signature_details;
    std::string verdict; ///< that follows from what is in it
    std::string created;
    std::string version;
};

/// Fails where there is no bundle, or none that can be read. `signers`: an allowed_signers file, or empty.
Result<CheckedBundle> check_bundle(const std::filesystem::path& folder,
                                   const std::filesystem::path& signers);

/// Schema assay.bundle_check/2 (schema/bundle_check.json).
json::Value to_json(const std::filesystem::path& folder, const CheckedBundle& checked);
/// Lines for people, at most `most` findings.
std::string in_words(const std::filesystem::path& folder, const CheckedBundle& checked,
                     std::size_t most);

} // namespace assay::exchange
