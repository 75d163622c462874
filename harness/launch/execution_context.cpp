// SPDX-License-Identifier: Apache-2.0
#include "launch/execution_context.hpp"

#include "launch/environment.hpp"
#include "launch/placement.hpp"
#include "process/log.hpp"
#include "process/process.hpp"
#include "process/program.hpp"
#include "process/scratch.hpp"

#include <fmt/format.h>

#include <chrono>
#include <sstream>
#include <utility>

namespace assay::harness {

namespace fs = std::filesystem;

Result<ExecutionContext> context_of(const Variant& variant, std::string_view path) {
    ExecutionContext context{.variables = variant.variables, .prefix = {}};
    std::istringstream words{variant.via};
    for (std::string word; words >> word;) {
        if (context.prefix.empty() && word.find('/') == std::string::npos) {
            const auto program = find_program(word, path);
            if (program.empty())
                return fail(
                    fmt::format("variant {}: there is no program {} on PATH", variant.label, word),
                    Fault::environment);
            word = program.string();
        }
        context.prefix.push_back(std::move(word));
    }
    return context;
}

Result<void> try_out(const ExecutionContext& context, const fs::path& program,
                     const std::vector<std::string>& environment) {
    if (context.prefix.empty()) return {};
    constexpr std::chrono::seconds patience{30}; // its files may come from a slow disk
    ASSAY_TRY(const auto scratch, Scratch::create());
    Command command{.arguments = context.prefix,
                    .environment = worker_environment(environment, Placement{}, context.variables),
                    .log = scratch.folder() / "log"};
    command.arguments.insert(command.arguments.end(), {program.string(), "worker"});
    ASSAY_TRY(auto process, Process::start(command));
    const auto& ending = process.wait(patience);
    // A worker without a socket reports that and exits with its usage code.
    if (ending && ending->signal == 0 && ending->code == static_cast<int>(ExitCode::usage))
        return {};
    const auto said = last_line_of(command.log);
    return fail(fmt::format("a worker could not be started with {}: {}", context.prefix.front(),
                            said.empty() ? "it printed nothing" : said),
                Fault::environment);
}

} // namespace assay::harness
