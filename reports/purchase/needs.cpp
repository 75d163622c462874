// SPDX-License-Identifier: Apache-2.0
#include "purchase/needs.hpp"

#include "base/console.hpp"
#include "base/quantity.hpp"
#include "base/text.hpp"
#include "purchase/capacity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <tuple>

namespace assay::purchase {
namespace {

constexpr std::string_view example =
    "devices>=8, device_memory>=80GB, region=eu-*, 'gemm.square precision=bf16>=400e12', "
    "model=llama-3-70b,precision=fp8,context=8k";

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::vector<std::string> parts_of(std::string_view text, char separator) {
    std::vector<std::string> parts;
    while (true) {
        const auto at = text.find(separator);
        if (const auto part = trimmed(text.substr(0, at)); !part.empty()) parts.emplace_back(part);
        if (at == std::string_view::npos) return parts;
        text.remove_prefix(at + 1);
    }
}

struct Item {
    std::string left;
    std::string sign;
    std::string right;
};
std::optional<Item> item_of(std::string_view text) {
    for (const std::string_view sign : {">=", "<=", "="}) {
        const auto at = sign == "=" ? text.find(sign) : text.rfind(sign);
        if (at == std::string_view::npos) continue;
        Item item{std::string{trimmed(text.substr(0, at))}, std::string{sign},
                  std::string{trimmed(text.substr(at + sign.size()))}};
        return item.left.empty() || item.right.empty() ? std::nullopt : std::optional{item};
    }
    return {};
}

/// "400e12", "400T", "400 TFLOP/s", "5us": the number in base units, and the unit where there is one.
std::optional<std::pair<double, std::string>> with_prefix(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) return {};
    auto unit = trimmed(text.substr(static_cast<std::size_t>(end - text.data())));
    static constexpr std::array<std::pair<char, double>, 9> prefixes{{{'k', 1e3},
                                                                      {'M', 1e6},
                                                                      {'G', 1e9},
                                                                      {'T', 1e12},
                                                                      {'P', 1e15},
                                                                      {'E', 1e18},
                                                                      {'m', 1e-3},
                                                                      {'u', 1e-6},
                                                                      {'n', 1e-9}}};
    for (const auto& [letter, factor] : prefixes)
        if (unit.starts_with(letter)) {
            value *= factor;
            unit.remove_prefix(1);
            break;
        }
    return std::pair{value, std::string{unit}};
}

/// In SI base units; for an invalid amount, the expected form.
Result<double> amount_in(const Attribute& what, const std::string& text) {
    const auto refuse = [&](std::string_view right) {
        return fail(fmt::format("{}: invalid amount \"{}\" (expected {})", what.code,
                                plain(text, 60), right));
    };
    const auto ends_in_digit = text.back() >= '0' && text.back() <= '9';
    if (what.unit == "GB" || what.unit == "GiB") {
        const auto bytes = parse_bytes(text);
        return bytes && !ends_in_digit ? Result<double>{*bytes} : refuse("80GB or 80GiB");
    }
    if (what.unit == "Gb/s") {
        const auto rate = parse_rate(text);
        return rate ? Result<double>{*rate} : refuse("400Gb/s or 50GB/s");
    }
    if (what.unit == "share") {
        const bool percent = text.ends_with('%');
        const auto share = parse_real(percent ? text.substr(0, text.size() - 1) : text);
        if (!share || !(*share >= 0) || *share > (percent ? 100 : 1))
            return refuse("0.999 or 99.9%");
        return percent ? *share / 100 : *share;
    }
    if (what.unit == "ms" || what.unit == "min" || what.unit == "h" || what.unit == "d") {
        if (text.ends_with('d'))
            if (const auto days = parse_real(text.substr(0, text.size() - 1)); days && *days >= 0)
                return *days * 86400;
        const auto seconds = parse_duration(text);
        return seconds && !ends_in_digit ? Result<double>{*seconds} : refuse("20ms, 15m, 4h or 2d");
    }
    const auto value = parse_real(text);
    if (!value || !(*value >= 0) || !std::isfinite(*value)) return refuse("a number: 8");
    return *value;
}

/// The device memory that a model takes, from its figures and what else the items say of it.
Result<Need> model_need(const std::string& name, std::vector<Item>& rest) {
    ASSAY_TRY(const auto model, model_named(name));
    static constexpr std::array<std::pair<std::string_view, double>, 9> bits{{{"fp32", 32},
                                                                              {"bf16", 16},
                                                                              {"fp16", 16},
                                                                              {"fp8", 8},
                                                                              {"int8", 8},
                                                                              {"fp4", 4.5},
                                                                              {"nvfp4", 4.5},
                                                                              {"mxfp4", 4.25},
                                                                              {"int4", 4}}};
    Given given;
    Need need{.text = "model=" + name, .code = "model", .words = {name}};
    for (auto item = rest.begin(); item != rest.end();) {
        const auto integer = parse_integer(item->right);
        const std::string setting = item->left == "context" ? "sequence" : item->left;
        if (item->sign != "=" ||
            (item->left != "precision" && item->left != "context" && item->left != "batch")) {
            ++item;
            continue;
        }
        if (item->left == "precision") {
            const auto* const found = std::ranges::find(bits, std::string_view{item->right},
                                                        [](const auto& one) { return one.first; });
            if (found == bits.end())
                return fail(fmt::format("unknown precision \"{}\" of a model (known: fp32, bf16, "
                                        "fp16, fp8, int8, fp4, nvfp4, mxfp4, int4)",
                                        plain(item->right, 60)));
            given["weight_bits"] = found->second;
        } else if (!integer || *integer < 1) {
            return fail(fmt::format(
                "invalid {} \"{}\" of a model (expected a number from 1, such as {}=8k)",
                item->left, plain(item->right, 60), item->left));
        } else {
            given[setting] = static_cast<double>(*integer);
        }
        need.text += fmt::format(",{}={}", item->left, item->right);
        need.words.push_back(item->right);
        item = rest.erase(item);
    }
    if (!given.contains("sequence"))
        return fail(fmt::format("the context of {} is missing (expected model={},context=8k)",
                                plain(name, 60), plain(name, 60)));
    ASSAY_TRY(const auto capacity, capacity_of(given, false, {}, {}, model));
    const auto bytes = capacity.lines.of("copy_bytes");
    if (!bytes) return fail(fmt::format("the memory of {} cannot be computed", plain(name, 60)));
    need.value = bytes->value / capacity.lines.of("usable")->value;
    return need;
}

Result<Need> case_need(const Item& item, const std::string& text) {
    if (item.sign == "=")
        return fail(
            fmt::format("\"{}\" has no limit (expected '{}>=400e12' for a rate, '<=5us' for a "
                        "time)",
                        plain(text, 200), plain(item.left, 60)));
    const auto amount = with_prefix(item.right);
    if (!amount || !(amount->first > 0))
        return fail(
            fmt::format("invalid amount \"{}\" in \"{}\" (expected 400e12, 400TFLOP/s or 5us)",
                        plain(item.right, 60), plain(text, 200)));
    Need need{.text = text,
              .code = "case",
              .sense = item.sign == ">=" ? Sense::at_least : Sense::at_most,
              .value = amount->first,
              .unit = amount->second};
    for (const auto& word : parts_of(item.left, ' ')) {
        const auto equals = word.find('=');
        need.filters.push_back((need.filters.empty() ? "benchmark=" : ".") + word);
        if (need.filters.size() > 1 && equals == std::string::npos)
            return fail(fmt::format("invalid parameter \"{}\" in \"{}\" (expected NAME=VALUE)",
                                    plain(word, 60), plain(text, 200)));
    }
    return need;
}

Result<Need> plain_need(const Item& item, const std::string& text) {
    static const std::map<std::string, std::string_view, std::less<>> other_names{
        {"gpus", "devices"}, {"gpu", "device"}, {"gpu_memory", "device_memory"}};
    const auto other = other_names.find(item.left);
    const auto* const what = attribute_of(other == other_names.end() ? item.left : other->second);
    if (what == nullptr || what->code == "case") {
        const auto names = attribute_names();
        return fail(fmt::format("unknown need \"{}\"{}; known: {}, and cases: {}",
                                plain(item.left, 60), suggestion(item.left, names),
                                fmt::join(names, ", "), example));
    }
    Need need{.text = text, .code = std::string{what->code}, .sense = what->sense};
    if (what->sense == Sense::one_of) {
        if (item.sign != "=")
            return fail(fmt::format("{} is a text (expected {}={})", what->code, what->code,
                                    plain(item.right, 60)));
        need.words = parts_of(item.right, '|');
        if (what->code == "interruptible" &&
            (need.words.size() != 1 || (need.words[0] != "yes" && need.words[0] != "no")))
            return fail(fmt::format("interruptible: invalid value \"{}\" (expected yes or no)",
                                    plain(item.right, 60)));
        return need;
    }
    if (item.sign == ">=") need.sense = Sense::at_least;
    if (item.sign == "<=") need.sense = Sense::at_most;
    ASSAY_TRY(need.value, amount_in(*what, item.right));
    return need;
}

} // namespace

Result<std::vector<Need>> parse_needs(std::string_view text) {
    std::vector<Need> needs;
    std::vector<Item> rest;
    for (const auto& part : parts_of(text, ',')) {
        const auto item = item_of(part);
        if (!item)
            return fail(
                fmt::format("invalid need \"{}\" (expected {})", plain(part, 200), example));
        rest.push_back(*item);
    }
    if (rest.empty()) return fail(fmt::format("need is empty (expected {})", example));
    for (auto item = rest.begin(); item != rest.end(); ++item)
        if (item->left == "model") {
            const auto name = item->right;
            rest.erase(item);
            ASSAY_TRY(needs.emplace_back(), model_need(name, rest));
            break;
        }
    for (const auto& item : rest) {
        const auto whole = item.left + item.sign + item.right;
        // Names of benchmarks have a point: gemm.square.
        const bool is_case =
            item.left.substr(0, item.left.find(' ')).find('.') != std::string::npos;
        ASSAY_TRY(needs.emplace_back(), is_case ? case_need(item, whole) : plain_need(item, whole));
    }
    return needs;
}

Result<std::vector<Need>> all_needs(const std::vector<std::string>& of_profile,
                                    const std::vector<std::string>& of_buyer) {
    const auto read = [](const std::vector<std::string>& texts) -> Result<std::vector<Need>> {
        std::vector<Need> all;
        for (const auto& text : texts) {
            ASSAY_TRY(const auto some, parse_needs(text));
            all.insert(all.end(), some.begin(), some.end());
        }
        return all;
    };
    ASSAY_TRY(auto needs, read(of_profile));
    ASSAY_TRY(const auto own, read(of_buyer));
    const auto kind = [](const Need& need) { return std::tie(need.code, need.filters); };
    for (auto& need : needs) need.of_profile = true;
    std::erase_if(needs, [&](const Need& need) {
        return std::ranges::any_of(own, [&](const Need& one) { return kind(one) == kind(need); });
    });
    for (const auto& need : own) {
        for (const auto& other : needs) {
            if (kind(other) != kind(need)) continue;
            const bool apart = need.sense == Sense::at_least && other.sense == Sense::at_most
                                   ? need.value > other.value
                               : need.sense == Sense::at_most && other.sense == Sense::at_least
                                   ? need.value < other.value
                                   : need.sense == Sense::one_of && need.words != other.words;
            if (apart)
                return fail(fmt::format("the needs \"{}\" and \"{}\" contradict each other",
                                        plain(other.text, 200), plain(need.text, 200)));
        }
        needs.push_back(need);
    }
    return needs;
}

} // namespace assay::purchase
