// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.hpp"

namespace assay::plan {

record::Place place_of(const PlannedCase& planned) {
    record::Place place{.kind = planned.benchmark->place, .uuid = {}};
    if (planned.devices.size() == 1 && !planned.benchmark->all_devices) {
        place.uuid = planned.devices.front().uuid;
        place.index = planned.devices.front().index;
    }
    return place;
}

record::NamedList parameters_of(const PlannedCase& planned) {
    auto parameters = planned.parameters;
    parameters.insert(parameters.end(), planned.together.begin(), planned.together.end());
    return parameters;
}

std::vector<std::size_t> siblings_of(const Plan& plan, std::size_t index) {
    const auto& cases = plan.cases;
    while (cases[index].with_previous) --index;
    std::vector<std::size_t> siblings{index};
    while (++index < cases.size() && cases[index].with_previous) siblings.push_back(index);
    return siblings;
}

record::Case empty_case(const PlannedCase& planned) {
    record::Case c;
    c.benchmark = planned.benchmark->id;
    c.version = planned.benchmark->version;
    c.place = place_of(planned);
    c.library = planned.module->module;
    c.parameters = parameters_of(planned);
    c.headline = planned.benchmark->headline;
    c.spread = planned.spread;
    record::set_conclusion(c, {.status = record::Status::interrupted,
                               .code = record::ReasonCode::not_measured,
                               .reason = "not measured yet"});
    return c;
}

} // namespace assay::plan
