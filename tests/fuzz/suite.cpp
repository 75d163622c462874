// SPDX-License-Identifier: Apache-2.0
//
// Whatever a suite asks for, every case that comes of it has all parameters, inside their ranges, and
// there are never more cases than are allowed.
#include "plan/suite.hpp"

#include "fuzz.hpp"
#include "plan/manifest.hpp"
#include "plan/parameter.hpp"
#include "plan/planner.hpp"

#include <string>

namespace {

using namespace assay;

harness::Catalogue small_catalogue() {
    const harness::Parameter threads{.name = "threads",
                                     .kind = harness::ParameterKind::integer,
                                     .help = "cores",
                                     .integer_low = 1,
                                     .integer_high = 64,
                                     .names = {"one", "all"},
                                     .defaults = {std::string{"one"}}};
    const harness::Parameter share{.name = "share",
                                   .kind = harness::ParameterKind::real,
                                   .help = "a share",
                                   .real_low = 0,
                                   .real_high = 1,
                                   .defaults = {0.5}};
    const harness::Parameter kernel{.name = "kernel",
                                    .kind = harness::ParameterKind::name,
                                    .help = "a loop",
                                    .names = {"copy", "triad"},
                                    .defaults = {std::string{"copy"}}};
    harness::Manifest host{.module = "host"};
    host.benchmarks.push_back({.id = "a.b", .parameters = {threads, share, kernel}});
    harness::Catalogue catalogue;
    catalogue.modules.push_back(host);
    return catalogue;
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto catalogue = small_catalogue();
    const auto suite = harness::parse_suite(fuzz::text(data, size), "input");
    if (fuzz::refused(suite)) return 0;
    const auto selection = harness::select_cases(catalogue, {}, &*suite);
    if (!selection) return 0;
    fuzz::expect(selection->cases.size() <= harness::most_cases);
    for (const auto& planned : selection->cases) {
        fuzz::expect(planned.parameters.size() == planned.benchmark->parameters.size());
        for (std::size_t i = 0; i < planned.parameters.size(); ++i)
            fuzz::expect(
                harness::check_value(planned.benchmark->parameters[i], planned.parameters[i].value)
                    .has_value());
    }
    return 0;
}
