// SPDX-License-Identifier: Apache-2.0

#include "offers/settings.hpp"

#include "base/console.hpp"
#include "base/text.hpp"
#include "offers/money.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace assay::report {

Result<void> add_setting(const std::string& text, std::span<const Setting> table, Given& given) {
    const auto at = text.find('=');
    const auto key = text.substr(0, at);
    const auto found = std::ranges::find(table, key, &Setting::key);
    if (at == std::string::npos || found == table.end()) {
        std::vector<std::string> names;
        for (const auto& setting : table) names.emplace_back(setting.key);
        return fail(fmt::format("--set \"{}\" is none{}; there are {}", plain(text, 60),
                                nearest(key, names).empty() ? "" : suggestion(key, names),
                                fmt::join(names, ", ")));
    }
    const auto amount = parse_amount(text.substr(at + 1));
    if (!amount) return fail(fmt::format("--set {}: {}", key, amount.error().message));
    if (amount->value < found->least || amount->value > found->most)
        return fail(fmt::format("--set {}={} is out of range: {:g} to {:g}", key,
                                plain(amount->text, 60), found->least, found->most));
    given[key] = amount->value;
    return {};
}

void add_inputs(Calculation& lines, std::span<const Setting> table, const Given& given,
                const std::string& money) {
    constexpr std::string_view stands = "money";
    for (const auto& setting : table) {
        const std::string key{setting.key};
        std::string unit{setting.unit};
        if (unit.starts_with(stands)) unit = money + unit.substr(stands.size());
        if (const auto own = given.find(setting.key); own != given.end())
            lines.input(key, unit, own->second, Basis::given, "--set");
        else if (setting.usual)
            lines.input(key, unit, *setting.usual, Basis::assumed, "");
        else
            lines.unknown(key, unit, "not_given");
    }
}

} // namespace assay::report
