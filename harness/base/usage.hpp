// SPDX-License-Identifier: Apache-2.0
//
// A command line as data, and what is made of it: completion for shells and the manual page.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::usage {

struct Option {
    std::vector<std::string> names; ///< "--out"; none: a positional argument
    std::string value;              ///< "FILE", "en|zh [en]"; empty: a flag
    std::string help;
};
struct Verb {
    std::string name;
    std::string help;
    std::string footer; ///< examples
    std::vector<Option> options;
};
struct Program {
    std::string name;
    std::string version;
    std::string help;
    std::string footer;
    std::vector<Option> options; ///< without a verb
    std::vector<Verb> verbs;
    std::vector<std::string> handed_over; ///< verbs that program NAME-report takes
};

/// The kind of text that may be typed for a value.
enum class Kind : std::uint8_t { other, choice, file, benchmark };
Kind kind_of(const Option& option);
/// "en" and "zh" of "en|zh [en]": the parts in lower case.
std::vector<std::string> choices(std::string_view value);

inline constexpr std::array<std::string_view, 3> shells{"bash", "zsh", "fish"};
/// A script for one of `shells`.
std::string completion(const Program& program, std::string_view shell);
/// In roff, for section 1.
std::string man_page(const Program& program);

// Verbs, options and values that earlier releases had: for one release the programs say what to use instead.

/// The message about the first removed word of a command line; empty if it has none. `arguments` begin with the verb.
std::string about_removed(const std::vector<std::string>& arguments);

} // namespace assay::usage
