// SPDX-License-Identifier: Apache-2.0
//
// Signatures by ssh-keygen (OpenSSH 8.2 or later), which holds the keys: no private key is read here.

#pragma once

#include "base/result.hpp"

#include <filesystem>
#include <string>

namespace assay::report {

inline constexpr const char* signature_namespace = "assay";

/// Writes FILE.sig. `key`: a private key, or a public one whose private half an agent holds. ssh-keygen may ask for a
/// passphrase on the terminal.
Result<void> sign(const std::filesystem::path& file, const std::filesystem::path& key);

struct SignatureCheck {
    bool holds = false;
    std::string signer;  ///< as `signers` has it; empty where nobody said whose the key is
    std::string details; ///< what ssh-keygen said
};
/// `signers`: an allowed_signers file of ssh-keygen; where empty, any key will do. Fails where ssh-keygen cannot be run.
Result<SignatureCheck> check_signature(const std::filesystem::path& file,
                                       const std::filesystem::path& signature,
                                       const std::filesystem::path& signers);

} // namespace assay::report
