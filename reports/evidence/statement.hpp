// SPDX-License-Identifier: Apache-2.0
//
// What is signed: an in-toto Statement, version 1 (https://in-toto.io/Statement/v1). Its subjects are the results, each by
// the root of its tree (digest "assayTree"; see tree.hpp), and limits, verdict and logs by SHA-256. What follows from these
// (the inventory) and what hides texts (the salts) are no subjects, so that a bundle of which texts were hidden keeps its
// signature.

#pragma once

#include "json/codec.hpp"
#include "judge/limits.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace assay::report {

inline constexpr const char* statement_type = "https://in-toto.io/Statement/v1";
inline constexpr const char* evidence_type = "urn:assay:evidence:1";
inline constexpr const char* tree_algorithm = "assayTree";
inline constexpr const char* hash_algorithm = "sha256";

struct Subject {
    std::string name; ///< path in the bundle
    Selector digest;  ///< hexadecimal by algorithm
};

struct EvidenceResult {
    std::string file;
    std::string run;     ///< its id
    std::string machine; ///< its id
    std::uint64_t leaves = 0;
};

struct EvidencePredicate {
    std::string version;             ///< of assay, that made it
    std::string created;             ///< UTC; the day that limits and waivers were judged on
    std::vector<std::string> limits; ///< files, the later ones on top
    std::string verdict;
    std::vector<EvidenceResult> results;
};

struct Statement {
    std::string type;
    std::vector<Subject> subject;
    std::string predicate_type;
    EvidencePredicate predicate;
};

template <class Visit>
void each_field(Visit&& visit, Maybe<Subject> auto& subject) {
    visit("name", subject.name);
    visit("digest", subject.digest);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<EvidenceResult> auto& result) {
    visit("file", result.file);
    visit("run", result.run);
    visit("machine", result.machine);
    visit("leaves", result.leaves);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<EvidencePredicate> auto& predicate) {
    visit("version", predicate.version);
    visit("created", predicate.created);
    visit("limits", predicate.limits);
    visit("verdict", predicate.verdict);
    visit("results", predicate.results);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<Statement> auto& statement) {
    visit("_type", statement.type);
    visit("subject", statement.subject);
    visit("predicateType", statement.predicate_type);
    visit("predicate", statement.predicate);
}

} // namespace assay::report

/// What is not known is not checked: nothing of it may be there.
template <>
inline constexpr bool assay::json::is_closed<assay::report::Statement> = true;
template <>
inline constexpr bool assay::json::is_closed<assay::report::EvidencePredicate> = true;
template <>
inline constexpr bool assay::json::is_closed<assay::report::EvidenceResult> = true;
template <>
inline constexpr bool assay::json::is_closed<assay::report::Subject> = true;
