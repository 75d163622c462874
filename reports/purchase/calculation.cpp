// SPDX-License-Identifier: Apache-2.0

#include "purchase/calculation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>
#include <set>
#include <system_error>
#include <utility>

namespace assay::purchase {
namespace {

/// Nested deeper than any formula: hostile text ends here and not with the stack.
constexpr int deepest = 100;

/// The least and most that `f` is at the corners of both intervals: right for what grows or falls in each of them.
template <class F>
Quantity combined(const Quantity& a, const Quantity& b, F&& f) {
    Quantity out{f(a.value, b.value)};
    for (const double x : {a.low, a.high})
        for (const double y : {b.low, b.high}) {
            out.low = std::min(out.low, f(x, y));
            out.high = std::max(out.high, f(x, y));
        }
    return out;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Evaluation {
public:
    Evaluation(std::string_view text, const Lookup& lookup) : rest_{text}, lookup_{lookup} {}

    Result<std::optional<Quantity>> take() {
        auto value = sum();
        skip();
        if (!fault_.empty()) return fail(fault_);
        if (!rest_.empty()) return fail(fmt::format("\"{}\" is left over", rest_));
        if (!known_) return std::nullopt;
        return value;
    }

private:
    void skip() {
        while (rest_.starts_with(' ')) rest_.remove_prefix(1);
    }
    bool take(char c) {
        skip();
        if (!rest_.starts_with(c)) return false;
        rest_.remove_prefix(1);
        return true;
    }
    Quantity problem(std::string text) {
        if (fault_.empty()) fault_ = std::move(text);
        rest_ = {};
        return {};
    }

    Quantity sum() {
        if (++depth_ > deepest) return problem("the formula is nested too deeply");
        auto value = product();
        while (true) {
            if (take('+'))
                value = combined(value, product(), std::plus<>{});
            else if (take('-'))
                value = combined(value, product(), std::minus<>{});
            else
                break;
        }
        --depth_;
        return value;
    }
    Quantity product() {
        auto value = power();
        while (true) {
            if (take('*'))
                value = combined(value, power(), std::multiplies<>{});
            else if (take('/'))
                value = combined(value, power(), std::divides<>{});
            else
                return value;
        }
    }
    Quantity power() {
        auto value = primary();
        if (take('^'))
            value = combined(value, primary(), [](double x, double y) { return std::pow(x, y); });
        return value;
    }
    Quantity primary() {
        skip();
        if (take('(')) {
            auto value = sum();
            return take(')') ? value : problem("a parenthesis is missing");
        }
        if (!rest_.empty() && is_letter(rest_.front())) return name();
        double number = 0;
        const auto [end, error] =
            std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
        if (error != std::errc{}) return problem("a value is missing");
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return number;
    }
    Quantity name() {
        std::size_t length = 1;
        while (length < rest_.size() && (is_letter(rest_[length]) || is_digit(rest_[length])))
            ++length;
        const auto word = rest_.substr(0, length);
        rest_.remove_prefix(length);
        if (take('(')) return call(word);
        const auto value = lookup_(word);
        known_ = known_ && value.has_value();
        return value.value_or(Quantity{1});
    }
    Quantity call(std::string_view function) {
        auto first = sum();
        if (function == "min" || function == "max") {
            if (!take(',')) return problem(fmt::format("{} takes two values", function));
            first = combined(first, sum(), [&](double x, double y) {
                return function == "min" ? std::min(x, y) : std::max(x, y);
            });
        } else if (function == "sqrt" || function == "exp" || function == "log" ||
                   function == "ceil") {
            first = combined(first, 0, [&](double x, double) {
                return function == "sqrt"  ? std::sqrt(x)
                       : function == "exp" ? std::exp(x)
                       : function == "log" ? std::log(x)
                                           : std::ceil(x);
            });
        } else {
            return problem(fmt::format("unknown function {}", function));
        }
        return take(')') ? first : problem("a parenthesis is missing");
    }

    std::string_view rest_;
    const Lookup& lookup_;
    std::string fault_;
    bool known_ = true;
    int depth_ = 0;
};

} // namespace

Result<std::optional<Quantity>> evaluate(std::string_view formula, const Lookup& lookup) {
    return Evaluation{formula, lookup}.take();
}

void Calculation::add(Line line) {
    // A later line of a name is a slip of the caller.
    [[maybe_unused]] const bool is_new = by_key_.emplace(line.key, lines_.size()).second;
    assert(is_new);
    lines_.push_back(std::move(line));
}

void Calculation::input(std::string key, const std::string& unit,
                        const std::optional<Quantity>& quantity, Basis basis,
                        const std::string& source, std::string why) {
    if (!quantity) return unknown(std::move(key), unit, std::move(why));
    add({.key = std::move(key),
         .unit = unit,
         .source = source,
         .basis = basis,
         .quantity = quantity});
}

void Calculation::unknown(std::string key, const std::string& unit, std::string why) {
    auto missing = key;
    add({.key = std::move(key),
         .unit = unit,
         .why = std::move(why),
         .missing = std::move(missing)});
}

void Calculation::result(std::string key, const std::string& unit, const std::string& formula) {
    Line line{.key = std::move(key), .unit = unit, .formula = formula};
    const auto value = evaluate(formula, [&](std::string_view name) -> std::optional<Quantity> {
        const auto* needed = find(name);
        assert(needed != nullptr && "a line that is not there");
        if (needed == nullptr) return {};
        line.basis = std::max(line.basis, needed->basis);
        if (!needed->quantity && line.why.empty()) {
            line.why = needed->why;
            line.missing = needed->missing;
        }
        return needed->quantity;
    });
    assert(value && "no formula");
    if (value && *value) {
        if (std::isfinite((*value)->value))
            line.quantity = **value;
        else {
            line.why = "not_finite";
            line.missing = line.key;
        }
    }
    add(std::move(line));
}

const Line* Calculation::find(std::string_view key) const {
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? nullptr : &lines_[found->second];
}

std::optional<Quantity> Calculation::of(std::string_view key) const {
    const auto* line = find(key);
    return line == nullptr ? std::nullopt : line->quantity;
}

std::vector<const Line*> Calculation::behind(std::string_view key) const {
    std::set<std::string, std::less<>> wanted{std::string{key}};
    std::vector<const Line*> found;
    for (std::size_t i = lines_.size(); i-- > 0;) {
        const auto& line = lines_[i];
        if (!wanted.contains(line.key)) continue;
        found.push_back(&line);
        const auto read = evaluate(line.formula.empty() ? "0" : line.formula, [&](auto name) {
            wanted.emplace(name);
            return std::optional<Quantity>{1};
        });
        assert(read);
    }
    std::ranges::reverse(found);
    return found;
}

} // namespace assay::purchase
