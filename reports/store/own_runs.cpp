// SPDX-License-Identifier: Apache-2.0

#include "store/own_runs.hpp"

#include "base/console.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace assay::report {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& a, const fs::path& b) {
    std::error_code unknown;
    return a.filename() == b.filename() && fs::equivalent(a, b, unknown);
}

/// Runs are in a folder that is called as their machine, or was when they were measured.
bool is_below(const fs::path& path, const std::set<std::string>& names) {
    return std::ranges::any_of(path.parent_path(),
                               [&](const fs::path& part) { return names.contains(part.string()); });
}

} // namespace

Result<void> keep_machine_of(Collection& all, const fs::path& file) {
    const auto own =
        std::ranges::find_if(all.runs, [&](const RunInfo& run) { return is_file(run.file, file); });
    if (own == all.runs.end()) {
        const auto problem = std::ranges::find_if(
            all.problems, [&](const Problem& one) { return is_file(one.where, file); });
        return fail(problem == all.problems.end()
                        ? fmt::format("--machine-of {}: none of the inputs contains this run",
                                      plain(file.string()))
                        : fmt::format("{}: {}", problem->where, problem->reason));
    }
    const auto& id = all.machines[own->machine].id;
    const auto campaign = own->campaign;
    const auto folder = file.parent_path();
    std::set<std::string> names{folder.filename().string(),
                                folder.parent_path().filename().string()};
    for (const auto& machine : all.machines)
        if (machine.id == id) {
            names.insert(machine.id);
            names.insert(machine.identity.aliases.begin(), machine.identity.aliases.end());
        }

    constexpr auto gone = static_cast<std::uint32_t>(-1);
    std::vector<std::uint32_t> numbers(all.runs.size(), gone);
    std::vector<RunInfo> runs;
    for (std::size_t i = 0; i < all.runs.size(); ++i) {
        auto& run = all.runs[i];
        if (all.machines[run.machine].id != id || run.campaign != campaign) continue;
        numbers[i] = static_cast<std::uint32_t>(runs.size());
        runs.push_back(std::move(run));
    }
    all.runs = std::move(runs);
    std::erase_if(all.observations,
                  [&](const Observation& seen) { return numbers[seen.run] == gone; });
    for (auto& seen : all.observations) seen.run = numbers[seen.run];
    std::erase_if(all.problems, [&](const Problem& one) { return !is_below(one.where, names); });
    std::erase_if(all.unfinished, [&](const fs::path& path) { return !is_below(path, names); });
    return {};
}

} // namespace assay::report
