// SPDX-License-Identifier: Apache-2.0
//
// Which figures stand side by side? Puts every observation of a collection into a table, a row and a side.
// A row never mixes unlike things: all of a series' identity that is not a column keeps rows apart, and
// so do the conditions that it was measured under (store/find.hpp).

#pragma once

#include "compare/comparison.hpp"
#include "store/keys.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace assay::compare {

/// Observations of one row on each side.
struct ArrangedRow {
    std::uint32_t table = 0;
    std::uint32_t series = 0;     ///< one of those behind it; they differ in columns alone
    record::NamedList conditions; ///< settled, without those that are columns
    bool is_primary = false;      ///< judged; see Observation::is_primary
    std::string extra;            ///< values of row keys that belong to runs
    std::string order;            ///< values of all row keys
    std::vector<std::vector<std::uint32_t>> sides; ///< indices of observations
};

/// Keys that `--across` puts into one row; each side is then its best.
struct Across {
    bool device = false;
    bool backend = false;
    bool any() const { return device || backend; }
};

struct Arrangement {
    std::vector<std::string> sides;
    std::vector<std::string> tables;
    std::vector<ArrangedRow> rows; ///< those that are judged first; by table, then by benchmark
    std::vector<std::string> column_parameters; ///< and conditions: no part of a row's identity
    bool library_is_column = false;
    bool benchmark_is_column = false;
    bool place_is_column = false;
    Across across;
    /// By benchmark the parameters that not each of its devices and backends has, where `across` merges these.
    std::map<std::string, std::set<std::string>> uncommon;
    std::vector<NotCompared> left_out;
};

/// Fails for keys and filters that make no sense, and where fewer than two sides are left.
Result<Arrangement> arrange(const store::Collection& collection, const CompareOptions& options);

/// The series in words, without what is a column: "gemm.square[openblas] precision=fp64 size=1024".
std::string identity_of(const store::Collection& collection, const Arrangement& arrangement,
                        const ArrangedRow& row);
/// The question, whichever library answers; without all that `across` merges.
std::string question_of(const store::Collection& collection, const Arrangement& arrangement,
                        const ArrangedRow& row);
/// Parts that `across` leaves out of the question: "cuda, cache hot, path nvlink".
std::string merged_of(const store::Collection& collection, const Arrangement& arrangement,
                      const ArrangedRow& row);
/// Its device and conditions where they are not as usual: "cuda, machines 2".
std::string beside_of(const store::Collection& collection, const Arrangement& arrangement,
                      const ArrangedRow& row);
/// Its parameters as people read them, without those that `across` leaves out: "fp64, size 1024, all threads".
std::string words_of(const store::Collection& collection, const Arrangement& arrangement,
                     const ArrangedRow& row);
/// Its parameters without those that are columns, or left out by `across`.
record::NamedList parameters_of(const store::Collection& collection, const Arrangement& arrangement,
                                const ArrangedRow& row);

} // namespace assay::compare
