// SPDX-License-Identifier: Apache-2.0
//
// What the person who imports says, and what comes of a file.

#pragma once

#include "extract/text.hpp"
#include "record/model.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace assay::imports {

using namespace extract; // every reader here takes texts apart

/// The fate of a line, or of an element of JSON.
struct Explained {
    std::string where;
    std::string what;
};

/// Facts that the person who imports knows and the file does not have. Empty: not known.
struct ImportOptions {
    std::string from; ///< the tool; found out from the content where not given
    std::string provider;
    std::string instance;
    std::string cpu_model;
    std::string machine;          ///< id of a machine that has results already
    std::string label;            ///< names the machine, where no id is known
    std::string started;          ///< when it was measured
    std::string library;          ///< what did the work: "openmpi"
    std::string place;            ///< "host", "cuda"
    std::string name;             ///< of the benchmark, where the file does not say: "all_reduce"
    record::NamedList parameters; ///< further identity of every case: ranks=4
    std::size_t cases = 50'000;   ///< a file with more is refused
    std::vector<Explained>* explained = nullptr; ///< takes what became of each line
};

/// A line, or an entry of a list, that no case was made of.
struct NotUnderstood {
    std::string where; ///< "line 7", "benchmarks[3]"
    std::string text;
    std::string reason;
    bool is_in_front = false; ///< of all results: what a launcher printed, most likely
};

struct Import {
    std::string tool;
    record::Run run;
    std::vector<NotUnderstood> not_understood;
    std::vector<std::string>
        unknown; ///< options that would say what the file does not: "--started"
};

} // namespace assay::imports
