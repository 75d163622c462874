// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs.hpp"

#include "launch/team.hpp"
#include "plan/hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace assay::cli {

void warn_of_problems(const plan::Catalogue& catalogue) {
    for (const auto& problem : catalogue.problems)
        print_error(fmt::format("assay: warning: {}\n", problem.message));
}

Result<void> check_problems(const plan::Catalogue& catalogue) {
    const auto prevented = std::ranges::find(catalogue.problems, Fault::environment, &Error::fault);
    if (prevented != catalogue.problems.end()) return tl::unexpected{*prevented};
    warn_of_problems(catalogue);
    return {};
}

namespace {

ExitCode perform_verb(const Options& options) {
    switch (options.verb) {
    case Verb::doctor:
        return doctor(options);
    case Verb::list:
        return list(options);
    case Verb::describe:
        return describe(options);
    case Verb::plan:
        return plan(options);
    case Verb::run:
        return run(options);
    case Verb::manifest:
        break;
    }
    return write_manifest(options);
}

} // namespace

ExitCode perform(const Options& options) {
    if (options.job.hosts.empty() && options.job.launcher.empty()) {
        if (options.groups.empty()) return perform_verb(options);
        return report({.message = "--groups and --group need --hosts or --hostfile"});
    }
    // Problems with hosts are reported before anything is measured.
    auto job = launch::settle(options.job);
    if (!job) return report(job.error());
    auto hosts = plan::in_groups(std::move(job->hosts), options.groups);
    if (!hosts) return report(hosts.error());
    auto settled = options;
    settled.job = std::move(*job);
    settled.job.hosts = std::move(*hosts);
    settled.job.show_names = options.record_hostname;
    return perform_verb(settled);
}

} // namespace assay::cli
