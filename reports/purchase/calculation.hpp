// SPDX-License-Identifier: Apache-2.0
//
// A calculation as a list of named lines: inputs with their source, and results by a formula of other lines' names. The
// formula is evaluated as it stands, so --explain shows what was computed.
// Values carry their intervals; what is not known makes whatever needs it not known, with the reason of the first.

#pragma once

#include "base/names.hpp"
#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::purchase {

struct Quantity {
    double value = 0;
    double low = 0;
    double high = 0;
    Quantity() = default;
    Quantity(double exact) : value{exact}, low{exact}, high{exact} {} // NOLINT(*-explicit-*)
    Quantity(double middle, double least, double most) : value{middle}, low{least}, high{most} {}
    bool has_interval() const { return low < value || high > value; }
};

/// How well an input is known, the best first; a result is known as well as its worst input.
ASSAY_ENUM(Basis, measured,
           given,     // by an offer or on the command line
           datasheet, // what a maker says, in place of a measurement
           assumed)   // a usual value that nobody gave

struct Line {
    std::string key; ///< "energy"; small letters, digits, underscores
    std::string unit;
    std::string formula{}; ///< "power * hours"; empty: an input
    std::string source{};  ///< of an input
    Basis basis = Basis::measured;
    std::optional<Quantity> quantity{}; ///< nothing: not known, for the reason
    std::string why{};                  ///< a code
    std::string missing{};              ///< the key of the input that is not known
};

/// Names, numbers, + - * / ^, ( ), sqrt exp log ceil min max. Fails for other texts.
using Lookup = std::function<std::optional<Quantity>(std::string_view name)>;
Result<std::optional<Quantity>> evaluate(std::string_view formula, const Lookup& lookup);

class Calculation {
public:
    /// Without a quantity the line is unknown, for that reason.
    void input(std::string key, const std::string& unit, const std::optional<Quantity>& quantity,
               Basis basis, const std::string& source, std::string why = "not_given");
    void unknown(std::string key, const std::string& unit, std::string why);
    /// Uses lines added before.
    void result(std::string key, const std::string& unit, const std::string& formula);

    const Line* find(std::string_view key) const;
    /// The quantity of a line; nothing where it is not known or not there.
    std::optional<Quantity> of(std::string_view key) const;
    const std::vector<Line>& lines() const { return lines_; }
    /// A line and all that it follows from, in order.
    std::vector<const Line*> behind(std::string_view key) const;

private:
    void add(Line line);
    std::vector<Line> lines_;
    std::map<std::string, std::size_t, std::less<>> by_key_;
};

} // namespace assay::purchase
