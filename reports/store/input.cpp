// SPDX-License-Identifier: Apache-2.0
#include "store/input.hpp"

#include "base/file.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/store.hpp"
#include "record/journal.hpp"
#include "reference/sheet_bounds.hpp"

#include <fmt/format.h>

#include <optional>
#include <system_error>
#include <unordered_map>
#include <utility>

namespace assay::store {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view run_file = "run.json";

/// The run.json below `folder` that was written last, or the journal of a run that died without one; of two written in the same instant, the one
/// whose path is greater (run folders begin with their time). `other` gets one of that name that is not a regular file.
std::optional<fs::path> newest_below(const fs::path& folder, fs::path& other) {
    std::optional<std::pair<fs::file_time_type, fs::path>> newest;
    std::error_code ignored;
    fs::recursive_directory_iterator entry{folder, fs::directory_options::skip_permission_denied,
                                           ignored};
    for (; !ignored && entry != fs::recursive_directory_iterator{}; entry.increment(ignored)) {
        std::error_code failed;
        if (is_draft(entry->path())) {
            entry.disable_recursion_pending();
            continue;
        }
        const bool is_journal = entry->path().filename() == record::journal_file;
        if (!is_journal && entry->path().filename() != run_file) continue;
        if (is_journal && (fs::exists(entry->path().parent_path() / run_file, failed) ||
                           is_being_written(entry->path())))
            continue;
        if (!entry->is_regular_file(failed)) {
            if (!entry->is_directory(failed)) other = entry->path();
            continue;
        }
        std::pair found{entry->last_write_time(failed), entry->path()};
        if (!failed && (!newest || found > *newest)) newest = std::move(found);
    }
    if (!newest) return std::nullopt;
    return newest->second;
}

} // namespace

Result<Input> split_label(std::string_view argument) {
    Input input{.file = fs::path{argument}};
    std::error_code ignored;
    if (const auto equals = argument.find('=');
        equals != std::string_view::npos && equals > 0 && !fs::exists(input.file, ignored)) {
        input.label = argument.substr(0, equals);
        input.file = fs::path{argument.substr(equals + 1)};
    }
    if (input.file.empty())
        return fail(
            fmt::format("invalid input \"{}\" (expected FILE, FOLDER or LABEL=PATH)", argument));
    return input;
}

Result<Input> find_input(std::string_view argument) {
    auto found = split_label(argument);
    if (!found) return found;
    Input& input = *found;
    std::error_code ignored;
    const auto status = fs::status(input.file, ignored);
    if (status.type() == fs::file_type::not_found)
        return fail(fmt::format("{}: no such file or folder", input.file.string()));
    if (!fs::is_directory(status)) return input;
    fs::path other;
    const auto newest = newest_below(input.file, other);
    if (!newest && !other.empty())
        return fail(
            fmt::format("{}: {}", other.string(), document::say<text::store::not_regular>()));
    if (!newest)
        return fail(
            fmt::format("{}: no {} in this folder or below; to write one: assay run SUITE --out {}",
                        input.file.string(), run_file, input.file.string()));
    input.file = *newest;
    return input;
}

Result<std::vector<Input>> find_inputs(const std::vector<std::string>& arguments) {
    std::vector<Input> inputs;
    for (const auto& argument : arguments) {
        ASSAY_TRY(inputs.emplace_back(), find_input(argument));
    }
    return inputs;
}

Result<record::Run> read_result(const fs::path& file, record::ReadOptions options) {
    std::string stale;
    options.stale = &stale;
    auto run = record::read_run(file, options);
    if (run && !stale.empty())
        return fail(fmt::format("{}: {}", file.string(), document::say<text::store::stale>(stale)));
    if (run) reference::add_missing_bounds(*run);
    return run;
}

Result<void> check_output(const fs::path& output, const std::vector<Input>& inputs) {
    std::error_code unknown;
    if (!fs::exists(output, unknown)) return {}; // spares a look at each of ten thousand inputs
    for (const auto& input : inputs) {
        std::error_code ignored;
        if (fs::equivalent(output, input.file, ignored))
            return fail(
                fmt::format("{}: is the input itself; write to another file", output.string()));
    }
    return {};
}

} // namespace assay::store
