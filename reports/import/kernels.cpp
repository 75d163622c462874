// SPDX-License-Identifier: Apache-2.0

#include "import/kernels.hpp"

#include "import/lines.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

namespace assay::imports::kernels {

std::optional<int> arrays_of(std::string_view kernel) {
    static constexpr std::array<std::pair<std::string_view, int>, 7> weights{{{"Copy", 2},
                                                                              {"Mul", 2},
                                                                              {"Scale", 2},
                                                                              {"Add", 3},
                                                                              {"Triad", 3},
                                                                              {"Dot", 2},
                                                                              {"Nstream", 4}}};
    for (const auto& [name, arrays] : weights)
        if (name == kernel) return arrays;
    return std::nullopt;
}

std::optional<double> unit_of(std::string_view title) {
    static constexpr std::array<std::pair<std::string_view, double>, 10> units{{{"mbytes", 1e6},
                                                                                {"mibytes", 0x1p20},
                                                                                {"gbytes", 1e9},
                                                                                {"gibytes", 0x1p30},
                                                                                {"mb", 1e6},
                                                                                {"mib", 0x1p20},
                                                                                {"gb", 1e9},
                                                                                {"gib", 0x1p30},
                                                                                {"tb", 1e12},
                                                                                {"tib", 0x1p40}}};
    auto word = word_of(title);
    if (word.starts_with("max_")) word.erase(0, 4);
    for (const std::string_view end : {"_per_sec", "_sec", "_s"}) {
        if (!word.ends_with(end)) continue;
        word.resize(word.size() - end.size());
        for (const auto& [name, bytes] : units)
            if (name == word) return bytes;
        return std::nullopt;
    }
    return std::nullopt;
}

std::string precision_of(std::int64_t bytes) {
    return bytes == 8 ? "fp64" : bytes == 4 ? "fp32" : fmt::format("{} bytes", bytes);
}

void add(Kernel kernel, std::string_view line, Draft& draft) {
    auto& reading = kernel.reading;
    constexpr double rounding = 0.01; // of six digits, with room
    constexpr double coarse = 0.01;   // a mean that is known no better says nothing
    const auto margin = [&](double seconds) { return rounding + kernel.half_digit / seconds; };
    const auto agrees = [&](double seconds) {
        return std::abs(*kernel.best - kernel.bytes / seconds) <=
               margin(seconds) * kernel.bytes / seconds;
    };
    const double shortest = kernel.least.value_or(kernel.mean);
    const bool is_coarse = kernel.half_digit > coarse * kernel.mean;
    if (!(kernel.mean > 0) && !is_coarse)
        return draft.skip(reading.where, line, "its time is no positive number of seconds");
    if (kernel.best && kernel.bytes > 0 && shortest > 0 && !agrees(shortest))
        return draft.skip(reading.where, line,
                          "its bandwidth does not follow from its elements and its time");
    if (kernel.best && kernel.least) {
        reading.extra.push_back({"best_bandwidth", *kernel.best});
        draft.note("the bandwidth is that of the mean time; the one that the tool prints is that "
                   "of the shortest, kept as the highest bandwidth");
    }
    if (is_coarse && kernel.best) {
        draft.note("times have too few digits for a mean: only the highest bandwidth is kept");
        reading.headline = "best_bandwidth";
        return draft.add(std::move(reading));
    }
    reading.headline = kernel.bytes > 0 ? "bandwidth" : "best_bandwidth";
    if (kernel.bytes > 0) reading.work = {{"bytes", kernel.bytes}};
    reading.seconds = kernel.mean;
    if (kernel.least && *kernel.least > 0)
        reading.extra.insert(reading.extra.begin(), {"fastest_time", *kernel.least});
    if (kernel.most && *kernel.most > 0) reading.extra.push_back({"slowest_time", *kernel.most});
    draft.add(std::move(reading));
}

} // namespace assay::imports::kernels
