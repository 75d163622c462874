// SPDX-License-Identifier: Apache-2.0
//
// What a record does not say of where and by whom it was measured. Values of variables, messages of launchers and
// libraries, and logs hold names of hosts and users, and paths. Each is replaced by a token, the same for the same
// thing: <host:1a2b>, <user>, <path:1a2b3c>. The record keeps which values are alike, and loses what they were.
//
// A path is absolute and has two parts or more: "B/s", "1/s" and "read/write" are none. Folders that every system has
// (/usr, /dev, /proc, ...) are no secret, but for what is known to be one.

#pragma once

#include "plan/interleaving.hpp"
#include "record/model.hpp"
#include "run/run_folder.hpp"

#include <cstddef>
#include <filesystem>
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
/// Of this process. --hostname: hosts and users are none; --keep-environment: neither are those variables.
Secrets find_secrets(const std::vector<plan::PlannedRun>& runs, const RunOptions& options);

class Redaction {
public:
    explicit Redaction(Secrets secrets);

    std::string operator()(std::string_view text) const;
    /// Every text that a case, a variant or a run records; not what identifies a series: benchmark, library, parameters.
    void apply(record::Case& c) const;
    void apply(record::Pairing& pairing) const { named(pairing.changes); }
    void apply(record::Run& run) const;
    /// Of a run that has ended; on failure they stay.
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
};

} // namespace assay::run
