// SPDX-License-Identifier: Apache-2.0
//
// Whatever a file of profiles holds: it is refused with its name, or each profile has weights of measures that are there,
// which sum to 1.
#include "fuzz.hpp"
#include "purchase/profile.hpp"

#include <cmath>

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    purchase::Profiles profiles;
    if (const auto added = purchase::add_profiles(fuzz::text(data, size), "input", profiles);
        !added) {
        fuzz::expect(added.error().message.starts_with("input"));
        return 0;
    }
    for (const auto& profile : profiles.profiles) {
        double sum = 0;
        for (const auto& weight : profile.weights) {
            fuzz::expect(!purchase::measure_of(profiles, weight).id.empty());
            sum += weight.value;
        }
        fuzz::expect(std::abs(sum - 1) < 0.01);
        fuzz::expect(purchase::find_profile(profiles, profile.name).has_value());
    }
    return 0;
}
