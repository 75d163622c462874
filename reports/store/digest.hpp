// SPDX-License-Identifier: Apache-2.0
//
// The kept part of one result file. Parts common to many files (machines, series, settings) are kept once and
// referred to by number, so that a digest takes a few kB where the file takes 200.

#pragma once

#include "store/collection.hpp"
#include "store/metrics.hpp"
#include "store/pack.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace assay::store {

/// A value that may be in a pool already.
template <class T>
struct Pooled {
    explicit Pooled(T of) : key{packed(of)}, value{std::move(of)} {}
    std::string key;
    T value;
};

/// Different values, numbered as they come.
template <class T>
class Pool {
public:
    std::uint32_t add(Pooled<T> item) {
        const auto [known, is_new] =
            numbers_.try_emplace(std::move(item.key), static_cast<std::uint32_t>(items_.size()));
        if (is_new) items_.push_back(std::move(item.value));
        return known->second;
    }
    std::size_t size() const { return items_.size(); }
    T& operator[](std::size_t number) { return items_[number]; }
    const T& operator[](std::size_t number) const { return items_[number]; }

private:
    std::deque<T> items_;
    std::unordered_map<std::string, std::uint32_t> numbers_;
};

/// Pools that digests refer to. Series are without their words.
struct Pools {
    Pool<record::Machine> machines;
    Pool<decide::Series> series;
    Pool<record::NamedList> settings;
    Pool<std::vector<MetricKind>> others; ///< which metrics a case has beside the primary one
};

struct CaseDigest {
    decide::Observation
        seen;            ///< its run is not known yet; series and settings are numbers of the pools
    std::string problem; ///< why an ok or unstable case has no value
    std::uint32_t others = 0;
    std::vector<MetricValues> values; ///< of those among the others that are asked for
};

struct RunDigest {
    RunInfo run; ///< its machine is a number of the pools
    std::vector<CaseDigest> cases;
};

/// Contents of a result file. Only finish() needs the pools for itself: the caller holds a lock.
class Digester {
public:
    Digester(record::Run run, const MetricChoice& choice);
    RunDigest finish(Pools& pools);

private:
    RunDigest digest_;
    Pooled<record::Machine> machine_;
    std::vector<Pooled<decide::Series>> series_;
    std::vector<Pooled<record::NamedList>> settings_;
    std::vector<Pooled<std::vector<MetricKind>>> others_;
};

// --- gather --------------------------------------------------------------------------------------
// Makes one Collection of digests: looks at each for what cannot be, finds runs that are there twice, numbers machines,
// series and settings anew.

/// A file's digest before it is looked at.
struct Candidate {
    std::size_t input = 0; ///< which of the arguments it came by
    RunDigest digest;
};

/// `options.now`: seconds since 1970, from which on a run is in the future.
Collection gather(std::vector<Candidate> candidates, Pools pools, const CollectOptions& options);

} // namespace assay::store
