// SPDX-License-Identifier: Apache-2.0
#include "usage/removed.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace assay::usage {
namespace {

struct Removed {
    std::string_view verb;    ///< empty: every verb
    std::string_view option;  ///< "--to"; empty: the verb itself
    std::string_view value;   ///< empty: every value
    std::string_view instead; ///< a sentence
};
constexpr std::array all{
    Removed{"ledger", "", "",
            "Keep the bundles in a folder and check each one: assay verify BUNDLE. To find a part: "
            "grep -rl SERIAL FOLDER."},
    Removed{"export", "--redact", "",
            "A result names hosts and users only if measured with `assay run --hostname`, and "
            "serial numbers only with --serials; --id-key FILE records hashes of these instead."},
    Removed{"export", "--to", "gbench", "Use --to csv or --to ndjson."},
    Removed{"doctor", "--noise", "",
            "Every run records the noise that it expects and what disturbed it: assay run quick."},
    Removed{"doctor", "--seconds", "",
            "It was the duration of --noise. Every run records the noise that it expects and what "
            "disturbed it: assay run quick."},
    Removed{"check", "--self-test", "",
            "The tests of assay hold the judge against nodes with one fault each. To judge a node: "
            "assay check results."},
    Removed{"compare", "--per", "",
            "The ranking also has the ratio per core. Work for the money: "
            "assay report RUNS --kind procurement --offers FILE."},
    Removed{"compare", "--offers", "",
            "Offers are compared by: assay report RUNS --kind procurement --offers FILE."},
    Removed{"compare", "--tariff", "",
            "Offers are compared by: assay report RUNS --kind procurement --offers FILE."},
    Removed{"compare", "--currency", "",
            "Offers are compared by: assay report RUNS --kind procurement --offers FILE."},
    Removed{"", "--no-index", "", "Files are always read anew; leave the option out."},
};

/// The word to name: "--to gbench".
std::string name_of(const Removed& one) {
    if (one.option.empty()) return std::string{one.verb};
    return fmt::format("{}{}{}", one.option, one.value.empty() ? "" : " ", one.value);
}

bool is_used(const Removed& one, const std::vector<std::string>& arguments) {
    if (!one.verb.empty() && one.verb != arguments.front()) return false;
    if (one.option.empty()) return true;
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        const std::string_view argument = arguments[i];
        const auto equals = argument.find('=');
        if (argument.substr(0, equals) != one.option) continue;
        if (one.value.empty()) return true;
        if (equals != argument.npos) return argument.substr(equals + 1) == one.value;
        return i + 1 < arguments.size() && arguments[i + 1] == one.value;
    }
    return false;
}

} // namespace

std::string about_removed(const std::vector<std::string>& arguments) {
    if (arguments.empty()) return "";
    for (const auto& one : all)
        if (is_used(one, arguments))
            return fmt::format("{} was removed. {}", name_of(one), one.instead);
    return "";
}

} // namespace assay::usage
