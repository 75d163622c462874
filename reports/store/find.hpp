// SPDX-License-Identifier: Apache-2.0
//
// The result files that inputs name.

#pragma once

#include "base/result.hpp"
#include "record/conditions.hpp"
#include "store/collection.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace assay::store {

struct FoundFile {
    std::string label;
    std::size_t input = 0; ///< which of the arguments it came by
    std::filesystem::path path;
    double modified = 0; ///< seconds since 1970
    std::string within;  ///< path below its folder; empty for files named themselves
};

struct FoundFiles {
    std::vector<FoundFile> files; ///< each once, by input, then by path
    std::vector<Problem> problems;
    std::vector<std::filesystem::path> unfinished; ///< journals of runs without a result
};

/// Journals of runs that have no result.
enum class Journals : std::uint8_t {
    none,
    ended,  // files, where no process here writes them: their runs died
    living, // the same, and the others in FoundFiles::unfinished
    all,    // in FoundFiles::unfinished
};

/// A folder stands for every run.json in it and at any depth below it; links to folders are not followed.
/// Files named themselves or by a glob may have any name. Fails where an input names nothing at all.
Result<FoundFiles> find_files(const std::vector<std::string>& inputs,
                              Journals journals = Journals::ended);

// --- each run ------------------------------------------------------------------------------------
// The runs of many files, one in memory at a time.

struct EachRun {
    std::size_t runs = 0;          ///< that were taken
    std::vector<Problem> problems; ///< files that cannot be read, and runs that are there twice
};

/// False: no more runs. Texts in the run are plain.
using TakeRun = std::function<bool(const record::Run& run, const FoundFile& file)>;

/// Each run once, by its id: complete ones in the order of the files, then those that were interrupted and are complete
/// nowhere. Reads them without the values of their replicas.
EachRun each_run(const FoundFiles& files, const TakeRun& take);

/// "precision=fp64 size=1024"
std::string joined(const record::NamedList& list);

// --- own runs ------------------------------------------------------------------------------------
// What a node that judges itself looks at: its own runs, in a folder that others may write to as well.

/// Leaves the runs of the machine and campaign of the run in `file`, and the problems and unfinished runs in folders of
/// that machine. Fails if the file does not belong to the collection, with the reason.
Result<void> keep_machine_of(Collection& collection, const std::filesystem::path& file);

// --- alike ---------------------------------------------------------------------------------------
// Under which conditions was a series measured, as far as comparing needs it (decision 0278)? Conditions that were
// recorded and differ keep series apart. One that was not recorded, as in files from before it existed, is taken to
// be the only value that series of the same question and of otherwise equal conditions recorded; where they recorded
// several, the series stays by itself. So two that differ never meet through a third that does not say, and the
// order of the files does not matter.

/// For each series its conditions; "" for one that was not recorded and cannot be taken to be any of several.
/// `group`: for each series the number of what it asks, without conditions. `left_out`: conditions that do not count.
std::vector<record::NamedList> settle(const std::vector<decide::Series>& series,
                                      const std::vector<std::uint32_t>& group,
                                      const std::vector<std::string>& left_out);

/// "ecc off", "ecc not recorded".
std::string condition_in_words(const record::NamedList& conditions, std::string_view name);
/// Those that are not as usual: "machines 2, ranks 16, path tcp". Conditions told by a parameter are not repeated.
std::string conditions_in_words(const record::NamedList& conditions,
                                const record::NamedList& parameters = {});
/// Settled conditions that this series did not record: it was taken to be like others.
std::vector<std::string> assumed(const record::NamedList& settled, const decide::Series& series);

} // namespace assay::store
