// SPDX-License-Identifier: Apache-2.0
//
// What work consists of (configs/profiles): measures, which say what test items count as one kind of work, and profiles,
// which give measures weights.

#pragma once

#include "base/fields.hpp"
#include "base/result.hpp"
#include "json/codec.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::report {

enum class Take : std::uint8_t {
    each, // every library and way of doing the work by itself
    best  // the fastest of them on each machine
};
std::string_view to_string(Take take);
bool from_text(std::string_view text, Take& out);
std::string_view expected_text(Take take);

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
};

struct Profiles {
    std::vector<Measure> measures;
    std::vector<Profile> profiles;
};

/// In the language in use; the id or name where there is no title.
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

template <class Visit>
void each_field(Visit&& visit, Maybe<Measure> auto& measure) {
    visit("id", measure.id);
    visit("title", measure.title);
    visit("title_zh", measure.title_zh);
    visit("where", measure.where);
    visit("metric", measure.metric);
    visit("take", measure.take);
    visit("per_device", measure.per_device);
}

} // namespace assay::report

namespace assay::json {
template <>
inline constexpr bool is_lenient<report::Measure> = true;
} // namespace assay::json
