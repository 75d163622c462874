// SPDX-License-Identifier: Apache-2.0
//
// Hides in a record where and by whom it was measured. Values of variables, messages of launchers and
// libraries, and logs hold names of hosts and users, and paths. Each is replaced by a token, the same for the same
// thing: <host:1a2b>, <user>, <path:1a2b3c>. The record keeps which values are alike, and loses what they were.
//
// A path is absolute and has two parts or more: "B/s", "1/s" and "read/write" are not. Folders that every system has
// (/usr, /dev, /proc, ...) are not secret, except for paths known to be; nor is the address of a page (https://...).

#pragma once

#include "plan/interleaving.hpp"
#include "record/model.hpp"
#include "run/run_folder.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay::run {

struct Secrets {
    std::vector<std::string> hosts;
    std::vector<std::string> users;
    std::vector<std::string> paths;          ///< found also where they do not look like one
    std::vector<std::string> kept_variables; ///< recorded as they are
};
/// Secrets of this process. --hostname: hosts and users are not secret;
/// --keep-environment: those variables are not either.
Secrets find_secrets(const std::vector<plan::PlannedRun>& runs, const RunOptions& options);

/// The text that each token stands for: for the terminal, not for files.
using Hidden = std::map<std::string, std::string, std::less<>>;

class Redaction {
public:
    explicit Redaction(Secrets secrets);

    std::string operator()(std::string_view text) const;
    const Hidden& hidden() const { return hidden_; }
    /// Every text that a case, a variant or a run records; not what
    /// identifies a series: benchmark, library, parameters.
    void apply(record::Case& c) const;
    void apply(record::Pairing& pairing) const { named(pairing.changes); }
    void apply(record::Run& run) const;
    /// Redacts the logs of a run that has ended; on failure they stay.
    void apply_to_logs(const std::filesystem::path& folder) const;

private:
    struct Known {
        std::string text;
        std::string token;
    };
    template <class T>
    void each_text(T& member) const;
    void named(record::NamedList& list) const;
    std::size_t path_at(std::string_view text, std::size_t at) const;
    void add_words(std::string& out, std::string_view text) const;

    std::vector<Known> words_; ///< longest first, as the paths
    std::vector<std::string> paths_;
    std::vector<std::string> kept_; ///< "environment.NAME"
    mutable Hidden hidden_;
};

/// Reasons and warnings with their paths and hosts again.
void reveal(record::Run& run, const Hidden& hidden);

} // namespace assay::run
