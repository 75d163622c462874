// SPDX-License-Identifier: Apache-2.0
//
// Mixes of work (configs/profiles): a measure selects the cases that count as one kind of work, and a profile gives
// measures weights.

#pragma once

#include "base/fields.hpp"
#include "base/names.hpp"
#include "base/result.hpp"
#include "json/codec.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::purchase {

ASSAY_ENUM(Take,
           each, // every library and way of doing the work by itself
           best) // the fastest of them on each machine

struct Measure {
    std::string id;
    std::string title;
    std::string title_zh;
    std::vector<std::string> where; ///< filters of store/keys.hpp: "benchmark=gemm.*"
    std::string metric;             ///< empty: the primary one
    Take take = Take::each;
    bool per_device = false; ///< every device of a node does it by itself
};

struct Weight {
    std::string measure; ///< id
    double value = 0;    ///< those of a profile sum to 1
};

struct Profile {
    std::string name;
    std::string title;
    std::string title_zh;
    std::vector<Weight> weights;
    std::vector<std::string> needs{}; ///< needs.hpp: without them the work cannot be done
};

struct Profiles {
    std::vector<Measure> measures;
    std::vector<Profile> profiles;
};

/// The title in the language in use; the id or name without one.
std::string title_of(const Measure& measure);
std::string title_of(const Profile& profile);

/// Adds a file to what earlier ones hold; what has an id or name that is there replaces it. Fails where weights do not sum
/// to 1, or are of a measure that is not there.
Result<void> add_profiles(std::string_view text, const std::string& source, Profiles& profiles);
/// Those that are installed, and then these files.
Result<Profiles> read_profiles(const std::vector<std::string>& files);
/// Fails with the names that there are.
Result<Profile> find_profile(const Profiles& profiles, const std::string& name);
const Measure& measure_of(const Profiles& profiles, const Weight& weight);

ASSAY_FIELDS(Measure, id, title, title_zh, where, metric, take, per_device)

template <OneOf<Measure> T>
void json_lenient(const T&);

} // namespace assay::purchase
