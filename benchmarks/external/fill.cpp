// SPDX-License-Identifier: Apache-2.0
#include "external/fill.hpp"

#include <assay/text.hpp>

#include <algorithm>

namespace assay::external {
namespace {

constexpr int most_replacements = 1000; // in one text, those of words in words included

} // namespace

Fill::Fill(const Description& description, std::map<std::string, std::string> values)
    : description_{description}, values_{std::move(values)} {}

const Arguments* Fill::word(const std::string& name) const {
    if (const auto list = lists_.find(name); list != lists_.end()) return &list->second;
    const auto found = std::ranges::find(description_.words, name, &Word::name);
    if (found == description_.words.end()) return nullptr;
    const auto value = values_.find(found->of);
    if (value == values_.end()) return nullptr;
    auto chosen = found->values.find(value->second);
    if (chosen == found->values.end()) chosen = found->values.find("*");
    return chosen == found->values.end() ? nullptr : &chosen->second;
}

std::string Fill::one(const std::string& name, int& left) const {
    if (const auto value = values_.find(name); value != values_.end()) return value->second;
    const auto* const texts = word(name);
    if (texts == nullptr) throw Problem{joined("unknown placeholder {", name, "}")};
    if (--left < 0) throw Problem{joined("{", name, "} contains itself, or is too long")};
    if (texts->size() != 1)
        throw Problem{
            joined("{", name, "} is ", texts->size(), " arguments, but is used inside one")};
    return filled(texts->front(), left);
}

std::string Fill::filled(const std::string& from, int& left) const {
    std::string to;
    std::size_t at = 0;
    for (auto begin = from.find('{'); begin != from.npos; begin = from.find('{', at)) {
        const auto end = from.find('}', begin);
        if (end == from.npos) break;
        to += from.substr(at, begin - at);
        to += one(from.substr(begin + 1, end - begin - 1), left);
        at = end + 1;
    }
    return to + from.substr(at);
}

std::string Fill::text(const std::string& from) const {
    int left = most_replacements;
    return filled(from, left);
}

Arguments Fill::arguments(const Arguments& from) const {
    Arguments to;
    for (const auto& argument : from) {
        const bool is_placeholder = argument.size() > 2 && argument.front() == '{' &&
                                    argument.find('}') == argument.size() - 1;
        const auto* const texts =
            is_placeholder ? word(argument.substr(1, argument.size() - 2)) : nullptr;
        if (texts == nullptr)
            to.push_back(text(argument));
        else
            for (const auto& one : *texts) to.push_back(text(one));
    }
    return to;
}

std::string Fill::file(const std::string& from) const {
    std::string to = from;
    const auto put = [&](const std::string& name, const std::string& value) {
        const auto placeholder = joined("@", name, "@");
        for (auto at = to.find(placeholder); at != to.npos;
             at = to.find(placeholder, at + value.size()))
            to.replace(at, placeholder.size(), value);
    };
    for (const auto& [name, value] : values_) put(name, value);
    for (const auto& known : description_.words)
        if (const auto* const texts = word(known.name); texts != nullptr && texts->size() == 1)
            put(known.name, text(texts->front()));
    return to;
}

Where Fill::where(Where from) const {
    if (from.kind != Where::Kind::pattern) from.text = text(from.text);
    from.row_value = text(from.row_value);
    return from;
}

Metric Fill::metric(Metric from) const {
    from.where = where(std::move(from.where));
    if (from.unit_at) from.unit_at = where(*std::move(from.unit_at));
    return from;
}

Check Fill::check(Check from) const {
    from.where = where(std::move(from.where));
    if (from.near) from.near = where(*std::move(from.near));
    if (from.equals) from.equals = text(*from.equals);
    return from;
}

} // namespace assay::external
