// SPDX-License-Identifier: Apache-2.0
#include "child.hpp"

#include "machine/inventory.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace assay::peers {
namespace {

/// This process' environment with some variables replaced.
std::vector<std::string> environment_with(const Variables& changed) {
    std::vector<std::string> result;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text{*entry};
        bool replaced = false;
        for (const auto& [name, value] : changed)
            replaced = replaced || text.substr(0, text.find('=')) == name;
        if (!replaced) result.emplace_back(text);
    }
    for (const auto& [name, value] : changed)
        if (!value.empty()) result.push_back(name + '=' + value);
    return result;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
    result.push_back(nullptr);
    return result;
}

} // namespace

Variables placed(int threads) {
    std::string places;
    for (const int cpu : machine::choose_cpus(threads))
        places += (places.empty() ? "{" : ",{") + std::to_string(cpu) + "}";
    return {{"OMP_NUM_THREADS", std::to_string(threads)},
            {"OMP_PROC_BIND", "true"},
            {"OMP_PLACES", places}};
}

Spawned::Spawned(const std::vector<std::string>& arguments, const Variables& environment) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0)
        throw std::runtime_error{std::string{"no pipe: "} + std::strerror(errno)};
    posix_spawn_file_actions_t actions{};
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    const auto entries = environment_with(environment);
    const int failed = ::posix_spawnp(&pid_, arguments.front().c_str(), &actions, nullptr,
                                      pointers(arguments).data(), pointers(entries).data());
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(in[0]);
    ::close(out[1]);
    to_ = ::fdopen(in[1], "w");
    from_ = ::fdopen(out[0], "r");
    if (failed != 0) throw std::runtime_error{arguments.front() + ": " + std::strerror(failed)};
}

Spawned::~Spawned() {
    wait();
    if (from_ != nullptr) std::fclose(from_);
}

void Spawned::say(const std::string& line) {
    std::fputs((line + '\n').c_str(), to_);
    std::fflush(to_);
}

std::string Spawned::read_line() {
    char* line = nullptr;
    std::size_t capacity = 0;
    const auto length = ::getline(&line, &capacity, from_);
    std::string text = length > 0 ? std::string{line, static_cast<std::size_t>(length)} : "";
    std::free(line);
    return text;
}

int Spawned::wait() {
    if (to_ != nullptr) std::fclose(to_);
    to_ = nullptr;
    if (pid_ <= 0) return -1;
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Child::Child(const std::vector<std::string>& arguments, const Variables& environment)
    : name_{arguments.front()}, process_{arguments, environment} {
    std::istringstream line{answer()};
    std::string ready;
    line >> ready >> flops_ >> std::ws;
    std::getline(line, words_);
    if (ready != "ready") throw std::runtime_error{name_ + " is not ready: " + line.str()};
}

std::string Child::answer() {
    std::string text = process_.read_line();
    if (text.empty()) throw std::runtime_error{name_ + " ended"};
    return text;
}

double Child::sample(std::size_t calls) {
    process_.say(std::to_string(calls));
    return std::strtod(answer().c_str(), nullptr);
}

} // namespace assay::peers
