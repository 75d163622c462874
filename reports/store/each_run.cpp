// SPDX-License-Identifier: Apache-2.0

#include "store/each_run.hpp"

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/store.hpp"
#include "store/input.hpp"

#include <fmt/format.h>

#include <string>
#include <unordered_map>
#include <utility>

namespace assay::report {
namespace {

class Reading {
public:
    Reading(const FoundFiles& files, const TakeRun& take)
        : files_{files.files}, take_{take}, out_{.problems = files.problems} {}

    EachRun run() && {
        std::vector<const FoundFile*> interrupted;
        bool more = true;
        for (const auto& file : files_) {
            if (!more) return std::move(out_);
            const auto run = read(file);
            if (!run) continue;
            if (run->status == "done" || run->id.empty())
                more = take(*run, file);
            else
                interrupted.push_back(&file);
        }
        for (const auto* file : interrupted) {
            if (!more) break;
            if (const auto run = read(*file)) more = take(*run, *file);
        }
        return std::move(out_);
    }

private:
    Result<record::Run> read(const FoundFile& file) {
        auto run = read_result(file.path, {.values = false});
        if (run) return run;
        out_.problems.push_back(
            {.where = plain(file.path.string()),
             .reason = plain(without_prefix(run.error().message, file.path.string() + ": "))});
        return run;
    }
    static std::string without_prefix(const std::string& text, const std::string& prefix) {
        return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
    }
    bool take(const record::Run& run, const FoundFile& file) {
        const auto [first, is_new] = taken_.try_emplace(run.id, &file);
        if (!is_new && !run.id.empty()) {
            out_.problems.push_back({.where = plain(file.path.string()),
                                     .reason = say<text::store::same_run>(
                                         run.id, plain(first->second->path.string()))});
            return true;
        }
        ++out_.runs;
        return take_(run, file);
    }

    const std::vector<FoundFile>& files_;
    const TakeRun& take_;
    std::unordered_map<std::string, const FoundFile*> taken_; ///< by id
    EachRun out_;
};

} // namespace

std::string joined(const record::NamedList& list) {
    std::string out;
    for (const auto& entry : list)
        out += fmt::format("{}{}={}", out.empty() ? "" : " ", entry.name,
                           record::to_string(entry.value));
    return out;
}

EachRun each_run(const FoundFiles& files, const TakeRun& take) {
    return Reading{files, take}.run();
}

} // namespace assay::report
