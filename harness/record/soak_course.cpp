// SPDX-License-Identifier: Apache-2.0
#include "record/soak.hpp"
#include "stats/history.hpp"
#include "stats/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <system_error>

namespace assay::record {

std::string digest_of(const OutputHashes& hashes) {
    if (hashes.empty()) return {};
    constexpr std::uint64_t factor = 0x9E37'79B9'7F4A'7C15; // as in assay/digest.hpp
    constexpr int turn = 29;
    std::uint64_t all = hashes.size();
    for (const auto hash : hashes) {
        all = (std::rotl(all, turn) ^ hash) * factor;
        all ^= all >> 32U;
    }
    return fmt::format("{:016x}", all);
}

std::string to_text(const OutputHashes& hashes) {
    std::string text;
    for (const auto hash : hashes) text += fmt::format("{:016x}", hash);
    return text;
}

OutputHashes hashes_from(std::string_view text) {
    constexpr std::size_t digits = 16;
    constexpr int base = 16;
    OutputHashes hashes;
    for (; text.size() >= digits; text.remove_prefix(digits)) {
        std::uint64_t hash = 0;
        const char* const end = text.data() + digits;
        const auto read = std::from_chars(text.data(), end, hash, base);
        if (read.ec != std::errc{} || read.ptr != end) return {};
        hashes.push_back(hash);
    }
    return text.empty() ? hashes : OutputHashes{};
}

namespace {

/// The level of each segment between change points, and where it begins.
struct Level {
    std::size_t first;
    double seconds;
};
std::vector<Level> levels_of(const std::vector<double>& seconds) {
    std::vector<double> logarithms;
    for (const double value : seconds) logarithms.push_back(std::log(value));
    std::vector<Level> levels{{.first = 0, .seconds = 0}};
    for (const auto& step : stats::find_steps(logarithms)) levels.push_back({step.index, 0});
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const auto end = i + 1 < levels.size() ? levels[i + 1].first : seconds.size();
        levels[i].seconds =
            stats::median(std::span{seconds}.subspan(levels[i].first, end - levels[i].first));
    }
    return levels;
}

} // namespace

Course course_of(const SoakPhase& phase) {
    std::vector<double> times;
    std::vector<double> seconds;
    for (const auto& point : phase.points) {
        // Where most visits were disturbed, their mean is of those.
        if (!point.seconds || !(*point.seconds > 0) || 2 * point.disturbed > point.visits) continue;
        times.push_back(point.begun_seconds);
        seconds.push_back(*point.seconds);
    }
    Course course{.points = seconds.size()};
    if (seconds.size() < fewest_points) return course;
    const double usual = stats::median(seconds);
    course.usual_seconds = usual;
    std::vector<double> differences;
    for (std::size_t i = 1; i < seconds.size(); ++i)
        differences.push_back(std::abs(seconds[i] - seconds[i - 1]) / usual);
    course.spread = stats::median(differences);
    const auto levels = levels_of(seconds);
    const auto best = std::ranges::min(levels, {}, &Level::seconds).seconds;
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const double slower = 1 - (best / levels[i].seconds);
        if (!(slower > 0) || (course.slowest && slower <= course.slowest->slower)) continue;
        const bool lasts = i + 1 == levels.size();
        course.slowest =
            SlowStretch{.from_seconds = times[levels[i].first],
                        .to_seconds = lasts ? times.back() : times[levels[i + 1].first],
                        .slower = slower,
                        .lasts = lasts};
    }
    // The interval of Sen's slope leaves out zero where chance does not explain the trend.
    constexpr double confidence = 0.999; // of each case of many
    const auto slope = stats::theil_sen(times, seconds, confidence);
    if (slope.low > 0 || slope.high < 0) {
        const double change = slope.value * (times.back() - times.front()) / usual;
        course.drift = change / (1 + std::max(change, 0.0));
    }
    return course;
}

double slowing_of(const Course& course) {
    return std::max(course.drift, course.slowest ? course.slowest->slower : 0);
}

} // namespace assay::record
