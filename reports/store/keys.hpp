// SPDX-License-Identifier: Apache-2.0
//
// The keys that runs and series are told apart by: what `--column instance` or `--filter 'library!=mpi'`
// speak of. A key is worked out once per run or once per series, never per figure.

#pragma once

#include "base/result.hpp"
#include "store/collection.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::store {

struct Key {
    std::string name;
    bool of_series = false;            ///< else of the run
    bool is_parameter = false;         ///< which not every series has
    std::vector<std::uint32_t> values; ///< for each series or run: an index into `texts`
    std::vector<std::string> texts;    ///< each once; the first is "" (not known, not there)

    std::uint32_t of(const decide::Observation& observation) const {
        return values[of_series ? observation.series : observation.run];
    }
    /// How many of its values runs (or series) have.
    std::size_t distinct() const;
};

/// `name` is one of key_names(), a tag of runs ("tag.rack"), a parameter ("size", or ".size" where a key has that name),
/// a condition ("ecc"; record/conditions.hpp), or a software entry of the machine ("openblas.version").
Result<Key> make_key(const Collection& collection, std::string_view name);
Result<std::vector<Key>> make_keys(const Collection& collection,
                                   const std::vector<std::string>& names);
/// The keys every collection has, for help and for suggestions.
const std::vector<std::string>& key_names();

/// "library=openblas|onednn", "family!=md", "instance=c7*".
struct Filter {
    Key key;
    std::vector<bool> passes; ///< for each text of the key

    bool admits_run(std::uint32_t run) const { return key.of_series || passes[key.values[run]]; }
    bool admits_series(std::uint32_t series) const {
        return !key.of_series || passes[key.values[series]];
    }
    bool admits(const decide::Observation& observation) const {
        return passes[key.of(observation)];
    }
};
Result<Filter> make_filter(const Collection& collection, std::string_view expression);
Result<std::vector<Filter>> make_filters(const Collection& collection,
                                         const std::vector<std::string>& expressions);

/// Takes out what these do not admit.
Result<void> apply_filters(Collection& collection, const std::vector<std::string>& expressions);

/// "2026Q1" of an ISO 8601 date; "" of anything else.
std::string quarter_of(std::string_view started);

} // namespace assay::store
