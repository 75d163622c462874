// SPDX-License-Identifier: Apache-2.0
#include "children.hpp"

#include "launch/launcher.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>
#include <utility>

namespace assay::peers {
namespace {

/// turn_of() counts in the unit of its samples: seconds per operation here.
Turn per_operation(Child& child) {
    return [turn = turn_of([&child](std::size_t n) { return child.sample(n) / child.flops(); }),
            flops = child.flops()](double seconds) { return turn(seconds / flops); };
}

} // namespace

ChildPtr start_child(const Options& options, const std::vector<std::string>& arguments,
                     const std::string& core_type) {
    if (!std::filesystem::exists(arguments[0]))
        throw std::runtime_error{arguments[0] + " was not built"};
    auto environment = placed(options.threads);
    environment.emplace_back("OPENBLAS_CORETYPE", core_type);
    return std::make_unique<Child>(arguments, environment);
}

ChildPtr start_ours(const Options& options, const std::string& library,
                    std::vector<std::string> what, const std::string& core_type) {
    what.insert(what.begin(), {options.peer("peer_module"), options.module(library)});
    what.push_back("threads=" + std::to_string(options.threads));
    return start_child(options, what, core_type);
}

Spawned start_job(int ranks, const std::vector<std::string>& what) {
    const std::string count = std::to_string(ranks);
    std::vector<std::string> arguments{"mpirun", "-np", count,     "--host", "localhost:" + count,
                                       "--mca",  "plm", "isolated"};
    if (!launch::may_read_siblings())
        arguments.insert(arguments.end(), {"--mca", "btl_vader_single_copy_mechanism", "none"});
    arguments.insert(arguments.end(), what.begin(), what.end());
    return {arguments, {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}}};
}

Ratio compare_children(Child& ours, Child& peer, const Options& options) {
    return take_turns(per_operation(ours), per_operation(peer), options.plan, [&] {
        return own_cpu_seconds() + cpu_seconds_of(ours.pid()) + cpu_seconds_of(peer.pid());
    });
}

std::string rate_words(const char* who, double seconds_per_flop, const std::string& kernel) {
    return fmt::format("{} {:.1f} GFLOP/s ({})", who, 1e-9 / seconds_per_flop, kernel);
}

} // namespace assay::peers
