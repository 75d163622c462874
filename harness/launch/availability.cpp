// SPDX-License-Identifier: Apache-2.0
#include "launch/availability.hpp"

#include "base/file.hpp"
#include "launch/launcher.hpp"
#include "launch/placement.hpp"
#include "launch/session.hpp"
#include "plan/manifest.hpp"
#include "process/scratch.hpp"
#include "process/start.hpp"

#include <fmt/format.h>

#include <system_error>

namespace assay::launch {
namespace {

namespace fs = std::filesystem;

ModuleState probe(const plan::Manifest& module, const record::Machine& machine,
                  const fs::path& scratch) {
    ModuleState state{.module = module.module, .problem = why_unavailable(module), .facts = {}};
    if (!state.problem.empty()) return state;
    LaunchRequest request;
    request.program = layout().programs / "assay";
    request.log = scratch / (module.module + ".log");
    request.scratch = scratch;
    request.inherited = process::own_environment();
    auto answer = ask_facts(Session::start(std::move(request), {.machine = machine}),
                            module.library.string());
    state.problem = std::move(answer.problem);
    state.facts = std::move(answer.facts);
    return state;
}

} // namespace

std::string why_unavailable(const plan::Manifest& module) {
    std::error_code error;
    if (!fs::is_regular_file(module.library, error))
        return fmt::format("{} is missing", module.library.string());
    if (module.launcher.empty()) return {};
    if (process::find_launcher(module.launcher).empty())
        return fmt::format("{} is not installed{}", module.launcher,
                           module.launcher == "mpirun" ? " (Debian package openmpi-bin)" : "");
    return {};
}

std::vector<ModuleState> probe_modules(const plan::Catalogue& catalogue,
                                       const record::Machine& machine) {
    std::vector<ModuleState> states;
    const auto scratch = process::Scratch::create();
    for (const auto& module : catalogue.modules) {
        if (scratch)
            states.push_back(probe(module, machine, scratch->folder()));
        else
            states.push_back({.module = module.module, .problem = scratch.error().message});
    }
    return states;
}

} // namespace assay::launch
