// SPDX-License-Identifier: Apache-2.0
//
// All descriptions, and the table of benchmarks made from them.

#pragma once

#include "external/description.hpp"

#include <assay/module.h>

#include <cstddef>
#include <list>
#include <string>
#include <vector>

namespace assay::external {

inline constexpr const char* path_variable = "ASSAY_EXTERNAL_PATH";
/// Each has functions of its own: see external.cpp.
inline constexpr std::size_t most_descriptions = 128;

struct Calls {
    decltype(assay_benchmark::fit) fit;
    decltype(assay_benchmark::create) create;
    decltype(assay_benchmark::destroy) destroy;
    decltype(assay_benchmark::sample) sample;
    decltype(assay_benchmark::work) work;
    decltype(assay_benchmark::verify) verify;
    decltype(assay_benchmark::poison) poison;
    decltype(assay_benchmark::spoil) spoil;
    decltype(assay_benchmark::metrics) metrics;
};
const Calls& calls_of(std::size_t place);

/// A description that is part of the library: configs/external/NAME.
struct Shipped {
    const char* name;
    const char* text;
};
extern const Shipped shipped[];
extern const std::size_t shipped_count;

class Library {
public:
    /// `folders`: with colons between, as in ASSAY_EXTERNAL_PATH.
    explicit Library(const std::string& folders);

    const std::vector<Description>& descriptions() const { return descriptions_; }
    const std::vector<const assay_benchmark*>& benchmarks() const { return pointers_; }
    const std::vector<const char*>& problems() const { return problem_pointers_; }
    /// A hash of what was read from the folders; empty where there are none.
    const std::string& id() const { return id_; }

private:
    void add(const std::string& text, const std::string& source,
             const std::filesystem::path& folder);
    void read_folder(const std::filesystem::path& folder);
    void note(std::string problem);
    void make_table();
    assay_benchmark benchmark_of(std::size_t place);
    const assay_value* values_of(const Parameter& parameter);
    const char* keep(std::string text);

    std::vector<Description> descriptions_;
    std::list<std::string> texts_; ///< that the table points to
    std::list<std::vector<const char*>> lists_;
    std::list<std::vector<assay_value>> defaults_;
    std::list<std::vector<assay_parameter>> parameters_;
    std::vector<assay_benchmark> benchmarks_;
    std::vector<const assay_benchmark*> pointers_;
    std::list<std::string> problems_;
    std::vector<const char*> problem_pointers_;
    std::uint64_t hash_ = 0xcbf29ce484222325; ///< FNV-1a
    std::string id_;
};

/// That of this process, made when it is first asked for.
const Library& library();

} // namespace assay::external
