// SPDX-License-Identifier: Apache-2.0
#include "process/start.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <system_error>

namespace assay::process {
namespace {

enum Variable : std::size_t { socket_address, token, cpus, data_limit, host_ranks, run };

constexpr std::string_view unbound = "any";

std::string_view value_of(Variable which) {
    const char* value = std::getenv(start_variables.at(which)); // NOLINT(concurrency-mt-unsafe)
    return value == nullptr ? std::string_view{} : std::string_view{value};
}

std::int64_t number_in(std::string_view text) {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::vector<int> numbers_in(std::string_view list) {
    std::vector<int> numbers;
    while (!list.empty()) {
        const auto comma = list.find(',');
        numbers.push_back(static_cast<int>(number_in(list.substr(0, comma))));
        list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
    }
    return numbers;
}

} // namespace

std::vector<std::string> to_variables(const Start& start) {
    std::vector<std::string> entries;
    const auto add = [&](Variable which, const std::string& value) {
        if (!value.empty())
            entries.push_back(fmt::format("{}={}", start_variables.at(which), value));
    };
    add(socket_address, start.socket);
    add(token, start.token);
    add(cpus, start.unbound ? std::string{unbound} : fmt::format("{}", fmt::join(start.cpus, ",")));
    if (start.data_limit > 0) add(data_limit, std::to_string(start.data_limit));
    add(host_ranks, fmt::format("{}", fmt::join(start.host_ranks, ",")));
    add(run, start.run);
    return entries;
}

std::string run_entry(const std::string& identity) {
    return fmt::format("{}={}", start_variables.at(run), identity);
}

std::string mark_of(const std::string& text) {
    return fmt::format("{}={}", start_variables.at(token), text);
}

Start own_start() {
    Start start{.socket = std::string{value_of(socket_address)},
                .token = std::string{value_of(token)},
                .cpus = {},
                .unbound = value_of(cpus) == unbound,
                .data_limit = number_in(value_of(data_limit)),
                .host_ranks = numbers_in(value_of(host_ranks)),
                .run = std::string{value_of(run)}};
    if (!start.unbound) start.cpus = numbers_in(value_of(cpus));
    return start;
}

std::optional<RankPlace> place_of(const std::vector<int>& ranks_per_host, int rank) {
    for (std::size_t host = 0; host < ranks_per_host.size(); ++host) {
        if (rank < ranks_per_host[host]) return RankPlace{.host = host, .local_rank = rank};
        rank -= ranks_per_host[host];
    }
    return std::nullopt;
}

// --- program -------------------------------------------------------------------------------------

namespace fs = std::filesystem;

std::vector<std::string> own_environment() {
    std::vector<std::string> entries;
    for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry)
        entries.emplace_back(*entry);
    return entries;
}

std::string_view variable_name(std::string_view entry) { return entry.substr(0, entry.find('=')); }

const char* find_variable(const std::vector<std::string>& environment, std::string_view name) {
    for (const auto& entry : environment)
        if (variable_name(entry) == name && entry.size() > name.size())
            return entry.c_str() + name.size() + 1;
    return nullptr;
}

fs::path find_program(std::string_view name, std::string_view path) {
    while (!path.empty()) {
        const auto end = path.find(':');
        const auto candidate = fs::path{path.substr(0, end)} / name;
        std::error_code error;
        if (fs::is_regular_file(candidate, error) && ::access(candidate.c_str(), X_OK) == 0)
            return candidate;
        if (end == std::string_view::npos) break;
        path.remove_prefix(end + 1);
    }
    return {};
}

fs::path find_launcher(std::string_view name) {
    const auto environment = own_environment();
    const char* path = find_variable(environment, "PATH");
    return find_program(name, path == nullptr ? "" : path);
}

} // namespace assay::process
