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

plan::Catalogue small_catalogue() {
    const plan::Parameter threads{.name = "threads",
                                  .kind = plan::ParameterKind::integer,
                                  .help = "cores",
                                  .integer_low = 1,
                                  .integer_high = 64,
                                  .names = {"one", "all"},
                                  .defaults = {std::string{"one"}}};
    const plan::Parameter share{.name = "share",
                                .kind = plan::ParameterKind::real,
                                .help = "a share",
                                .real_low = 0,
                                .real_high = 1,
                                .defaults = {0.5}};
    const plan::Parameter kernel{.name = "kernel",
                                 .kind = plan::ParameterKind::name,
                                 .help = "a loop",
                                 .names = {"copy", "triad"},
                                 .defaults = {std::string{"copy"}}};
    plan::Manifest host{.module = "host"};
    host.benchmarks.push_back({.id = "a.b", .parameters = {threads, share, kernel}});
    plan::Catalogue catalogue;
    catalogue.modules.push_back(host);
    return catalogue;
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto catalogue = small_catalogue();
    const auto suite = plan::parse_suite(fuzz::text(data, size), "input");
    if (fuzz::refused(suite)) return 0;
    const auto selection = plan::select_cases(catalogue, {}, &*suite);
    if (!selection) return 0;
    fuzz::expect(selection->cases.size() <= plan::most_cases);
    for (const auto& planned : selection->cases) {
        fuzz::expect(planned.parameters.size() == planned.benchmark->parameters.size());
        for (std::size_t i = 0; i < planned.parameters.size(); ++i)
            fuzz::expect(
                plan::check_value(planned.benchmark->parameters[i], planned.parameters[i].value)
                    .has_value());
    }
    return 0;
}
