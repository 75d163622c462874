// SPDX-License-Identifier: Apache-2.0

#include "store/plain.hpp"

#include "report/text.hpp"
#include "store/pack.hpp"

#include <utility>

namespace assay::report {

record::Machine make_machine(const std::string& bytes) {
    return plain(
               record::Run{.machine = unpacked<record::Machine>(bytes).value_or(record::Machine{})})
        .machine;
}
record::Case plain_case(record::Case c) {
    record::Run run;
    run.cases.push_back(std::move(c));
    run = plain(std::move(run));
    return std::move(run.cases.front());
}
std::optional<record::Soak> plain_soak(std::optional<record::Soak> soak) {
    return plain(record::Run{.soak = std::move(soak)}).soak;
}
std::optional<record::Gates> plain_gates(const record::Schedule& schedule) {
    return plain(record::Run{.schedule = schedule}).schedule->gates;
}
std::vector<record::ErrorCounter> plain_counters(std::vector<record::ErrorCounter> counters) {
    if (counters.empty()) return counters;
    return plain(record::Run{.error_counters = std::move(counters)}).error_counters;
}
record::NamedList plain_list(record::NamedList list) {
    if (list.empty()) return list;
    return plain_case({.settings = std::move(list)}).settings;
}
record::NamedList make_settings(const std::string& bytes) {
    return plain_list(unpacked<record::NamedList>(bytes).value_or(record::NamedList{}));
}
std::vector<MetricKind> make_kinds(const std::string& bytes) {
    auto kinds = unpacked<std::vector<MetricKind>>(bytes).value_or(std::vector<MetricKind>{});
    for (auto& kind : kinds) {
        kind.name = plain(kind.name);
        kind.unit = plain(kind.unit);
        kind.energy_scope = plain(kind.energy_scope);
    }
    return kinds;
}

} // namespace assay::report
