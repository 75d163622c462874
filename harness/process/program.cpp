// SPDX-License-Identifier: Apache-2.0
#include "process/program.hpp"

#include <unistd.h>

#include <system_error>

namespace assay::harness {

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

} // namespace assay::harness
