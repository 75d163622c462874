// SPDX-License-Identifier: Apache-2.0
//
// A benchmark that another program does, as a file describes it: configs/external/schema.json documents every key.
// Descriptions obey the schema and refer to existing things only; a program is started by a list of
// arguments, never by a shell.

#pragma once

#include "extract/units.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace assay::external {

/// A sentence that says what is wrong with a description, a command or an output.
class Problem : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

using Arguments = std::vector<std::string>;
using Setting = std::variant<std::int64_t, std::string>;

struct Parameter {
    enum class Kind : std::uint8_t { integer, choice, text };
    std::string name;
    std::string help;
    std::string unit;
    Kind kind = Kind::choice;
    std::int64_t low = 0;
    std::int64_t high = 0;
    std::vector<std::string> choices; ///< of an integer: one, all
    std::vector<Setting> defaults;
};

/// Meaning of a placeholder by the value of a parameter; "*": any other.
struct Word {
    std::string name;
    std::string of;
    std::map<std::string, Arguments> values;
};

/// A file made in the scratch folder: of a text, or a copy of one beside the description.
struct Input {
    std::string name;
    std::string text;
};

/// Where a value stands in what the program wrote. It must be found once.
struct Where {
    enum class Kind : std::uint8_t { pointer, column, pattern, elapsed };
    enum class Take : std::uint8_t { only, first, last };
    Kind kind = Kind::pattern;
    /// JSON pointer, name of a column, pattern of a whole line, whose group it is; or what a run does, of which the
    /// value is the rate: nothing of the output
    std::string text;
    std::string row_column; ///< of a table: the row is the one with this ...
    std::string row_value;  ///< ... in that column; empty: it has one row
    std::string in = "stdout";
    Take take = Take::only;
};

using extract::Unit;

struct Metric {
    std::string name;
    Where where;
    Unit unit;
    std::optional<Where> unit_at; ///< the unit stands in the output, and is one of time
    bool is_optional = false;
};

/// A condition that the output must meet.
struct Check {
    std::string notices; ///< the error that it would find
    Where where;
    std::optional<std::string> equals; ///< a number, or a text
    std::optional<double> at_least;
    std::optional<double> at_most;
    std::optional<Where> near; ///< another value that it must be near to
    double within = 0;         ///< relative
    bool completes =
        false; ///< failing alone, it says that the checking did not end, and nothing of the results
};

/// Where a parameter has a value.
struct When {
    std::string parameter;
    std::string value;
};

struct Server {
    Arguments command;
    bool each_call = false;   ///< it serves once
    std::optional<When> when; ///< otherwise always
    bool on_partner = false;  ///< on the second host of the team
};

struct Version {
    Arguments command; ///< empty: it is not asked
    std::string pattern;
    std::string least;
};

struct Description {
    std::string id;
    std::uint32_t version = 1;
    std::string place = "host";
    std::string question;
    std::string method;
    std::string caveats;
    std::string noise;
    std::string items;
    std::string program;
    std::string packages; ///< blank-separated; empty: no distribution has it, `homepage` does
    std::string homepage;
    std::string licence;
    std::string needs; ///< a path without which it does not apply: /dev/infiniband
    Version program_version;
    std::vector<Parameter> parameters;
    std::vector<Word> words;
    std::vector<Input> inputs;
    std::string
        scratch_in; ///< parameter that names the folder of the scratch folder; "": that for temporary files
    std::string space;              ///< bytes that must be free there, a template
    std::optional<When> direct_io;  ///< where the program goes past the page cache
    std::vector<Arguments> prepare; ///< once, before the first call
    std::vector<Server> servers;    ///< the first whose `when` holds is started
    std::string team; ///< parameter: the processes that {launch} starts; "": it starts none
    Arguments command;
    std::vector<Arguments> inspect; ///< after each call, not timed
    std::map<std::string, std::string> environment;
    double time_limit = 60; ///< seconds
    std::vector<int> exit_codes{0};
    std::optional<Where> failure;    ///< where it says why it failed, whatever its exit code
    std::vector<std::string> ignore; ///< patterns of lines that do not say that data are wrong
    std::vector<Metric> metrics;     ///< the first is the primary one
    std::vector<Check> checks;
};

/// `folder`: where files beside the description are; empty: there are none. `source` begins each message.
Description parse_description(std::string_view text, const std::string& source,
                              const std::filesystem::path& folder = {});

/// "MiB/s" and what it is in the base unit of a metric; throws where it is not known.
Unit unit_of(std::string_view text);

/// Throws if the pattern is invalid or has more than one group.
void check_pattern(const std::string& pattern);

/// Names of placeholders that stand for something in every description.
inline constexpr std::string_view built_in[] = {"tool",   "scratch", "cores",    "port",
                                                "launch", "hosts",   "hostfile", "other"};

} // namespace assay::external
