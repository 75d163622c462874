// SPDX-License-Identifier: Apache-2.0
//
// Pairs of devices: which are measured, in which order, and the matrix that is made of them. Pure numbers: tested
// on the host.

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace assay::transfer {

enum class Path : std::uint8_t {
    peer, // one device reaches into the memory of the other
    host  // through the memory of the host
};

struct DevicePair {
    std::size_t from;
    std::size_t to;
    bool operator==(const DevicePair&) const = default;
};

/// Whether a device reaches the memory of another: row by row, [from * count + to].
struct Reach {
    std::size_t count = 0;
    std::vector<bool> reaches;
    bool from_to(std::size_t from, std::size_t to) const { return reaches[from * count + to]; }
};

/// The pairs that can be measured, one after the other. Both ways at once: each pair once, and both must
/// reach each other.
inline std::vector<DevicePair> pairs_of(const Reach& reach, Path path, bool both_ways) {
    std::vector<DevicePair> pairs;
    for (std::size_t from = 0; from < reach.count; ++from)
        for (std::size_t to = both_ways ? from + 1 : 0; to < reach.count; ++to) {
            if (from == to) continue;
            const bool is_there =
                reach.from_to(from, to) && (!both_ways || reach.from_to(to, from));
            if (path == Path::host || is_there) pairs.push_back({.from = from, .to = to});
        }
    return pairs;
}

/// Values of pairs as a matrix; nothing on the diagonal and where a pair was not measured. Both ways at once: both
/// cells of a pair have its value.
inline std::vector<double> matrix_of(std::size_t count, std::span<const DevicePair> pairs,
                                     std::span<const double> values, bool both_ways) {
    std::vector<double> matrix(count * count, std::numeric_limits<double>::quiet_NaN());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        matrix[pairs[i].from * count + pairs[i].to] = values[i];
        if (both_ways) matrix[pairs[i].to * count + pairs[i].from] = values[i];
    }
    return matrix;
}

/// "0", or "0 NVIDIA H200" where the names differ, because a name that all have tells nothing.
inline std::vector<std::string> device_labels(std::span<const std::string> names) {
    bool same = true;
    for (const std::string& name : names) same = same && name == names.front();
    std::vector<std::string> labels;
    for (std::size_t i = 0; i < names.size(); ++i) {
        std::string label = std::to_string(i);
        if (!same) (label += ' ') += names[i];
        labels.push_back(std::move(label));
    }
    return labels;
}

/// Copies of a pair in one call. By a link of 400 GB/s 64 MiB take 170 us, of which the clock's half microsecond is too
/// much of one copy; through the host they take milliseconds, and a matrix of 8 devices has 56 cells.
constexpr int copies_of_pair(Path path) { return path == Path::peer ? 4 : 1; }
/// Small ones for a latency. They are queued while the stream is held, so they must not be many.
inline constexpr int small_copies_of_pair = 50;

} // namespace assay::transfer
