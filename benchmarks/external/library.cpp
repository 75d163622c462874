// SPDX-License-Identifier: Apache-2.0
#include "external/library.hpp"

#include <assay/text.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>

namespace assay::external {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_file = std::size_t{1} << 20U; // bytes of a description
constexpr std::size_t most_files = 1000;                    // of a folder

std::uint32_t noise_of(const std::string& name) {
    static constexpr std::array names{"",    "arithmetic", "memory", "workload",
                                      "fft", "messages",   "latency"};
    const auto* const found = std::ranges::find(names, name);
    if (found == names.end()) throw Problem{joined("noise: unknown kind ", name)};
    return static_cast<std::uint32_t>(found - names.begin());
}

} // namespace

Library::Library(const std::string& folders) {
    for (std::size_t i = 0; i < shipped_count; ++i)
        add(shipped[i].text, shipped[i].name, {}); // NOLINT: as many as there are
    const bool has_folders = folders.find_first_not_of(':') != folders.npos;
    for (std::size_t at = 0; has_folders && at <= folders.size();) {
        const auto end = std::min(folders.find(':', at), folders.size());
        if (end != at) read_folder(folders.substr(at, end - at));
        at = end + 1;
    }
    if (has_folders) {
        std::array<char, 17> text{};
        std::snprintf(text.data(), text.size(), "%016llx",
                      static_cast<unsigned long long>(hash_)); // NOLINT
        id_ = text.data();
    }
    make_table();
}

void Library::note(std::string problem) {
    problems_.push_back(std::move(problem));
    problem_pointers_.push_back(problems_.back().c_str());
}

void Library::read_folder(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator item{folder, error}, end; !error && item != end;
         item.increment(error))
        if (item->path().extension() == ".json") files.push_back(item->path());
    if (error)
        return note(joined("cannot read the folder ", folder.string(), ": ", error.message()));
    if (files.size() > most_files) return note(joined(folder.string(), " has too many files"));
    std::ranges::sort(files);
    for (const auto& file : files) {
        const auto size = fs::file_size(file, error);
        if (error || size > longest_file || !fs::is_regular_file(file, error)) {
            note(joined(file.string(), " is not a file of at most 1 MiB"));
            continue;
        }
        std::ifstream stream{file, std::ios::binary};
        add({std::istreambuf_iterator<char>{stream}, {}}, file.string(), folder);
    }
}

void Library::add(const std::string& text, const std::string& source, const fs::path& folder) try {
    const auto mix = [&](std::string_view bytes) {
        for (const unsigned char byte : bytes) hash_ = (hash_ ^ byte) * 0x100000001b3;
    };
    mix(text);
    auto description = parse_description(text, source, folder);
    for (const auto& input : description.inputs) mix(input.text);
    static_cast<void>(noise_of(description.noise));
    if (std::ranges::find(descriptions_, description.id, &Description::id) != descriptions_.end())
        throw Problem{joined(source, ": there is another description of ", description.id)};
    if (descriptions_.size() == most_descriptions)
        throw Problem{joined(source, ": more than ", most_descriptions, " descriptions")};
    descriptions_.push_back(std::move(description));
} catch (const Problem& problem) {
    note(problem.what());
}

const char* Library::keep(std::string text) {
    texts_.push_back(std::move(text));
    return texts_.back().c_str();
}

const assay_value* Library::values_of(const Parameter& parameter) {
    auto& values = defaults_.emplace_back();
    for (const auto& setting : parameter.defaults) {
        const auto* const number = std::get_if<std::int64_t>(&setting);
        if (number != nullptr)
            values.push_back({ASSAY_INTEGER, 0, *number, 0, nullptr});
        else
            values.push_back({parameter.kind == Parameter::Kind::text ? ASSAY_STRING : ASSAY_NAME,
                              0, 0, 0, std::get<std::string>(setting).c_str()});
    }
    return values.data();
}

assay_benchmark Library::benchmark_of(std::size_t place) {
    const auto& d = descriptions_[place];
    auto& parameters = parameters_.emplace_back();
    for (const auto& from : d.parameters) {
        assay_parameter p{};
        p.struct_size = sizeof p;
        p.kind = from.kind == Parameter::Kind::integer  ? ASSAY_INTEGER
                 : from.kind == Parameter::Kind::choice ? ASSAY_NAME
                                                        : ASSAY_STRING;
        p.name = from.name.c_str();
        p.help = from.help.c_str();
        p.unit = from.unit.c_str();
        p.integer_low = from.low;
        p.integer_high = from.high;
        auto& names = lists_.emplace_back();
        for (const auto& choice : from.choices) names.push_back(choice.c_str());
        p.names = names.data();
        p.name_count = names.size();
        p.defaults = values_of(from);
        p.default_count = from.defaults.size();
        parameters.push_back(p);
    }
    std::string given;
    for (const auto& metric : d.metrics)
        given += joined(given.empty() ? "" : " ", metric.name, "=", metric.unit.base);
    const auto& calls = calls_of(place);
    assay_benchmark b{};
    b.struct_size = sizeof b;
    b.version = d.version;
    b.id = d.id.c_str();
    b.place = d.place.c_str();
    b.question = d.question.c_str();
    b.method = keep(joined(d.method, " Licence of the program: ", d.licence, ".",
                           d.homepage.empty() ? "" : " Program: " + d.homepage));
    b.caveats = d.caveats.c_str();
    b.headline = d.metrics.front().name.c_str();
    b.ceiling = "";
    b.flags = ASSAY_SINGLE_CALL | ASSAY_LONG_CALLS;
    b.parameters = parameters.data();
    b.parameter_count = parameters.size();
    b.fit = calls.fit;
    b.create = calls.create;
    b.destroy = calls.destroy;
    b.sample = calls.sample;
    b.work = calls.work;
    b.verify = calls.verify;
    b.poison = calls.poison;
    b.spoil = calls.spoil;
    b.metrics = calls.metrics;
    b.noise = noise_of(d.noise);
    b.items = d.items.c_str();
    b.metrics_given = keep(std::move(given));
    b.packages = d.packages.c_str();
    return b;
}

void Library::make_table() {
    for (std::size_t i = 0; i < descriptions_.size(); ++i) benchmarks_.push_back(benchmark_of(i));
    for (const auto& benchmark : benchmarks_) pointers_.push_back(&benchmark);
}

const Library& library() {
    static const Library made{[] {
        const char* const folders =
            std::getenv(path_variable); // NOLINT(concurrency-mt-unsafe): before threads
        return std::string{folders == nullptr ? "" : folders};
    }()};
    return made;
}

} // namespace assay::external
