// SPDX-License-Identifier: Apache-2.0
#include "launch/slurm.hpp"

#include "base/file.hpp"
#include "launch/environment.hpp"
#include "launch/launcher.hpp"
#include "process/process.hpp"
#include "process/scratch.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace assay::harness {
namespace {

constexpr std::size_t most_nodes = 65'536;

std::optional<int> take_number(std::string_view& text) {
    int value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc{} || value < 1) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
    return value;
}

/// What `scontrol show hostnames LIST` prints: a name per line.
Result<std::string> ask_names(const std::string& list,
                              const std::vector<std::string>& environment) {
    const char* path = find_variable(environment, "PATH");
    const auto program = find_program("scontrol", path == nullptr ? "/usr/bin:/bin" : path);
    if (program.empty())
        return fail("needs scontrol (Debian package slurm-client)", Fault::environment);
    const auto scratch = Scratch::create();
    if (!scratch) return tl::unexpected{scratch.error()};
    const auto log = scratch->folder() / "names";
    auto process = Process::start({.arguments = {program.string(), "show", "hostnames", list},
                                   .environment = environment,
                                   .log = log});
    if (!process) return tl::unexpected{process.error()};
    constexpr std::chrono::seconds patience{20};
    const auto& ending = process->wait(patience);
    constexpr std::size_t most = std::size_t{16} << 20U;
    auto text = read_whole(log, most);
    if (!text) return text;
    if (!ending || ending->code != 0 || ending->signal != 0)
        return fail(fmt::format("scontrol does not know the hosts of this allocation: {}",
                                text->substr(0, text->find('\n'))),
                    Fault::environment);
    return text;
}

} // namespace

std::vector<int> repeated_counts(std::string_view text) {
    std::vector<int> counts;
    while (true) {
        const auto value = take_number(text);
        if (!value) return {};
        int times = 1;
        if (text.starts_with("(x")) {
            text.remove_prefix(2);
            const auto count = take_number(text);
            if (!count || !text.starts_with(')')) return {};
            text.remove_prefix(1);
            times = *count;
        }
        if (counts.size() + static_cast<std::size_t>(times) > most_nodes) return {};
        counts.insert(counts.end(), static_cast<std::size_t>(times), *value);
        if (text.empty()) return counts;
        if (!text.starts_with(',')) return {};
        text.remove_prefix(1);
    }
}

Result<std::vector<Host>> hosts_of_allocation() {
    const auto environment = own_environment();
    const char* list = find_variable(environment, "SLURM_JOB_NODELIST");
    if (list == nullptr)
        return fail("this Slurm allocation names no hosts (SLURM_JOB_NODELIST)",
                    Fault::environment);
    const auto names = ask_names(list, environment);
    if (!names) return tl::unexpected{names.error()};
    auto hosts = parse_hostfile(*names, "scontrol");
    if (!hosts) return hosts;
    const char* slots = find_variable(environment, "SLURM_TASKS_PER_NODE");
    if (slots == nullptr) slots = find_variable(environment, "SLURM_JOB_CPUS_PER_NODE");
    const auto counts = repeated_counts(slots == nullptr ? "" : slots);
    for (std::size_t i = 0; i < hosts->size() && i < counts.size(); ++i)
        (*hosts)[i].slots = counts[i];
    return hosts;
}

} // namespace assay::harness
