// SPDX-License-Identifier: Apache-2.0
//
// What a program wrote, and the values in it. A value is found once, or is an error; numbers are those of the C
// locale. The same places can be overwritten, so that a check can be shown to notice it.

#pragma once

#include "external/description.hpp"

#include <map>
#include <string>

namespace assay::external {

/// By name: "stdout", "stderr", "inspect", and files of the scratch folder.
using Outputs = std::map<std::string, std::string>;

/// The text at this place. Throws what is wrong: nothing there, two things there, no JSON, no such output.
std::string find(const Outputs& outputs, const Where& where);
/// Puts another text there.
void replace(Outputs& outputs, const Where& where, const std::string& text);

/// Lines in front of a JSON document, where fio writes its warnings and errors; empty where there are none.
std::string words_before_json(const std::string& text);

/// A line beside JSON by which the program says that its data are wrong, and that no pattern excuses; empty by default.
std::string wrong_line(const Outputs& outputs, const std::vector<std::string>& ignore = {});

/// Is there something? Not if the place is missing; throws where it is there twice.
bool is_there(const Outputs& outputs, const Where& where);

/// A finite number, written as the C locale does; throws otherwise.
double number_of(const std::string& text, std::string_view what);

/// In the base unit, and above zero or zero.
double value_of(const Outputs& outputs, const Metric& metric);

struct Finding {
    bool holds = false;
    std::string said; ///< what is wrong, where it does not hold
    double share = 0; ///< of the bound that was used, where there is one; above 1 it does not hold
};
Finding judge(const Outputs& outputs, const Check& check);
/// Makes the smallest change that the check must notice.
void spoil(Outputs& outputs, const Check& check);

} // namespace assay::external
