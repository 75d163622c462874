// SPDX-License-Identifier: Apache-2.0
//
// mdtest's summary (1.9, and 3.0 to 4.0): operations per second of each phase over all iterations. A phase that was not
// asked for is printed as 0.000: it was not measured.

#include "import/draft.hpp"
#include "import/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace assay::imports {
namespace {

using Words = std::vector<std::string_view>;

class Reader {
public:
    explicit Reader(Draft& draft) : draft_{draft} {}

    void read(std::string_view text) {
        for (InputLines lines{text}; !draft_.is_full() && lines.next();)
            line(lines.content(), lines.where());
    }

private:
    void line(std::string_view text, const std::string& where) {
        const auto words = words_of(text);
        if (text.starts_with("mdtest-")) {
            draft_.begin_process(where);
            draft_.set_tool_version(words[0].substr(7));
            in_summary_ = false;
            common_.clear();
            const auto nodes = std::ranges::find(words, "node(s)");
            if (nodes != words.end() && nodes != words.begin()) nodes_ = integer_of(*(nodes - 1));
        } else if (text.starts_with("-- started at ") && words.size() > 4) {
            if (draft_.run().started.empty()) draft_.set_started(moment(words[3], words[4]));
        } else if (text.starts_with("-- finished at ") && words.size() > 4) {
            draft_.set_ended(moment(words[3], words[4]));
            in_summary_ = false;
        } else if (text.starts_with("Command line used:")) {
            command(words);
        } else if (words.size() >= 4 && words[1] == "tasks,") {
            sizes(words);
        } else if (words[0] == "SUMMARY" || words[0] == "SUMMARY:") {
            in_summary_ = words.size() < 2 || words[1] != "time:";
            iterations_ = 1;
            const auto of = std::ranges::find(words, "(of");
            if (of != words.end() && of + 1 != words.end())
                iterations_ = integer_of(*(of + 1)).value_or(1);
        } else if (in_summary_ && words[0] != "Operation" && words[0] != "---------") {
            phase(words, text, where);
        }
    }

    /// "04/29/2021", "23:28:11"
    static std::string moment(std::string_view day, std::string_view time) {
        const auto parts = split(day, "/");
        if (parts.size() != 3) return std::string{day};
        return fmt::format("{}-{}-{}T{}", parts[2], parts[0], parts[1], time);
    }

    /// Options that change what is done to a file; paths are not kept.
    void command(const Words& words) {
        static constexpr std::array<std::pair<std::string_view, const char*>, 5> options{
            {{"-w", "write_bytes"},
             {"-e", "read_bytes"},
             {"-z", "depth"},
             {"-b", "branches"},
             {"-a", "api"}}};
        static constexpr std::array<std::pair<std::string_view, const char*>, 3> flags{
            {{"-u", "own_folders"}, {"-S", "shared_file"}, {"-y", "synced"}}};
        const auto bare = [](std::string_view word) {
            while (word.starts_with('\'') || word.starts_with('"')) word.remove_prefix(1);
            while (word.ends_with('\'') || word.ends_with('"')) word.remove_suffix(1);
            return word;
        };
        for (std::size_t i = 0; i < words.size(); ++i) {
            for (const auto& [option, name] : flags)
                if (bare(words[i]) == option) common_.push_back({name, true});
            for (const auto& [option, name] : options) {
                if (bare(words[i]) != option || i + 1 == words.size()) continue;
                const auto value = bare(words[i + 1]);
                if (const auto number = integer_of(value))
                    common_.push_back({name, *number});
                else
                    common_.push_back({name, std::string{value}});
            }
        }
    }

    /// "10 tasks, 33340 files/directories"
    void sizes(const Words& words) {
        parameters_.clear();
        if (const auto tasks = integer_of(words[0])) parameters_.push_back({"tasks", *tasks});
        if (nodes_) parameters_.push_back({"nodes", *nodes_});
        if (const auto items = integer_of(words[2])) parameters_.push_back({"items", *items});
        parameters_.insert(parameters_.end(), common_.begin(), common_.end());
    }

    /// "File creation     :     2943.697     2943.674     2943.686     0.006"
    void phase(const Words& words, std::string_view text, const std::string& where) {
        constexpr std::size_t figures = 4; // largest, smallest, mean, standard deviation
        std::array<double, figures> values{};
        if (words.size() <= figures) return;
        std::string name;
        for (std::size_t i = 0; i + figures < words.size(); ++i)
            name += fmt::format("{} ", words[i]);
        bool all = true;
        for (std::size_t i = 0; i < figures; ++i) {
            const auto value = number_of(words[words.size() - figures + i]);
            all = all && value && *value >= 0;
            values.at(i) = value.value_or(0);
        }
        if (!all) return draft_.skip(where, text, "expected a name and four numbers");
        const auto& [most, least, mean, deviation] = values;
        if (!(mean > 0))
            return draft_.note("phases with a rate of 0.000 are left out: they were not run");
        Reading reading{.name = word_of(name),
                        .parameters = parameters_,
                        .settings = {{"iterations", iterations_}},
                        .headline = "file_operation_rate",
                        .extra = {{"file_operation_rate", mean}},
                        .where = where};
        if (reading.name.empty() || !(least <= mean + rounding) || !(mean <= most + rounding))
            return draft_.skip(where, text, "its mean is not between its extremes");
        if (iterations_ > 1) {
            if (least > 0) reading.extra.push_back({"worst_file_operation_rate", least});
            reading.extra.push_back({"best_file_operation_rate", most});
        }
        draft_.add(std::move(reading));
    }

    static constexpr double rounding = 1e-3; // operations/s: three decimals

    Draft& draft_;
    bool in_summary_ = false;
    std::int64_t iterations_ = 1;
    std::optional<std::int64_t> nodes_;
    record::NamedList common_; ///< of all sizes of one start
    record::NamedList parameters_;
};

} // namespace

Result<void> read_mdtest(std::string_view text, std::string_view /*source*/, Draft& draft) {
    Reader{draft}.read(text);
    return {};
}

} // namespace assay::imports
