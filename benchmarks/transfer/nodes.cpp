// SPDX-License-Identifier: Apache-2.0

#include "nodes.hpp"

#include <assay/text.hpp>

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace assay::transfer {
namespace {

std::string read_text(const std::filesystem::path& path) {
    std::ifstream file{path};
    std::string text{std::istreambuf_iterator<char>{file}, {}};
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    return text;
}

/// Takes a number off the front of `text`; -1 if it does not begin with one.
int take_number(std::string_view& text) {
    int value = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || value < 0) return -1;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

} // namespace

std::vector<int> parse_list(std::string_view text) {
    constexpr int most = 1 << 16U; // CPUs; the kernel's limit is 8192
    std::vector<int> numbers;
    while (!text.empty()) {
        const int first = take_number(text);
        int last = first;
        if (text.starts_with('-')) {
            text.remove_prefix(1);
            last = take_number(text);
        }
        if (first < 0 || last < first || last >= most) return {};
        for (int number = first; number <= last; ++number) numbers.push_back(number);
        if (text.empty()) break;
        if (!text.starts_with(',') || text.size() == 1) return {};
        text.remove_prefix(1);
        if (numbers.size() > most) return {};
    }
    std::ranges::sort(numbers);
    numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
    return numbers;
}

NodeMask mask_of(int node) {
    NodeMask mask{};
    constexpr std::size_t bits = 8 * sizeof(unsigned long);
    if (node >= 0 && node < most_nodes)
        mask.at(static_cast<std::size_t>(node) / bits) = 1UL
                                                         << (static_cast<std::size_t>(node) % bits);
    return mask;
}

std::vector<Node> read_nodes(const std::string& folder) {
    std::vector<Node> nodes;
    std::error_code ignored; // an absent folder has no nodes
    for (const auto& entry : std::filesystem::directory_iterator{folder, ignored}) {
        const std::string name = entry.path().filename().string();
        std::string_view rest = name;
        if (!rest.starts_with("node")) continue;
        rest.remove_prefix(4);
        const int number = take_number(rest);
        if (number < 0 || number >= most_nodes || !rest.empty()) continue;
        nodes.push_back(
            {.number = number, .cpus = parse_list(read_text(entry.path() / "cpulist"))});
    }
    std::ranges::sort(nodes, {}, &Node::number);
    return nodes;
}

std::vector<int> nodes_with_memory(const std::string& folder, std::span<const Node> nodes) {
    const std::vector<int> with =
        parse_list(read_text(std::filesystem::path{folder} / "has_memory"));
    std::vector<int> numbers;
    for (const Node& node : nodes)
        if (with.empty() || std::ranges::binary_search(with, node.number))
            numbers.push_back(node.number);
    return numbers;
}

Teams teams_of(std::span<const Node> nodes, std::span<const int> cpu_of_thread) {
    Teams teams;
    for (const Node& node : nodes) {
        std::vector<std::size_t> team;
        for (std::size_t thread = 0; thread < cpu_of_thread.size(); ++thread)
            if (std::ranges::binary_search(node.cpus, cpu_of_thread[thread]))
                team.push_back(thread);
        if (team.empty()) continue;
        teams.rows.push_back(node.number);
        teams.team.push_back(std::move(team));
    }
    return teams;
}

std::string bind_to_node(void* data, std::size_t bytes, int node) {
    const NodeMask mask = mask_of(node);
    // The kernel takes one bit off the number of bits.
    if (::syscall(SYS_mbind, data, bytes, MPOL_BIND, mask.data(), most_nodes + 1UL, 0UL) == 0)
        return {};
    const int error = errno;
    return joined(
        "cannot place memory on node ", node, ": ", std::system_category().message(error),
        error == EPERM || error == ENOSYS ? " (containers forbid mbind without CAP_SYS_NICE)" : "");
}

std::size_t bytes_elsewhere(const void* data, std::size_t bytes, std::size_t step, int node) {
    std::vector<const void*> pages;
    for (std::size_t at = 0; at < bytes; at += step)
        pages.push_back(static_cast<const std::byte*>(data) + at);
    std::vector<int> where(pages.size(), -1);
    // Without a list of nodes it moves nothing and says where each page is.
    if (::syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, where.data(), 0) != 0)
        return bytes;
    std::size_t elsewhere = 0;
    for (std::size_t i = 0; i < where.size(); ++i)
        if (where[i] != node) elsewhere += std::min(step, bytes - i * step);
    return elsewhere;
}

} // namespace assay::transfer
