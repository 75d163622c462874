// SPDX-License-Identifier: Apache-2.0
//
// Reads the members of a JSON object by name and type, and refuses those that nobody asked for.

#pragma once

#include "external/description.hpp"

#include <assay/text.hpp>

#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <vector>

namespace assay::external {

using Json = nlohmann::json;

class Reader {
public:
    Reader(const Json& value, std::string at) : value_{value}, at_{std::move(at)} {
        if (!value.is_object()) throw Problem{joined(at_, ": expected an object")};
    }

    bool has(const std::string& key) const { return value_.contains(key); }
    const std::string& at() const { return at_; }
    std::string at(const std::string& key) const { return joined(at_ == "/" ? "" : at_, "/", key); }

    const Json& take(const std::string& key) {
        if (!has(key)) throw Problem{joined(at_, ": \"", key, "\" is missing")};
        asked_.insert(key);
        return value_.at(key);
    }
    Reader object(const std::string& key) { return {take(key), at(key)}; }
    template <class Take>
    void each(const std::string& key, Take&& take_one) {
        if (!has(key)) return;
        const auto& list = take(key);
        if (!list.is_array()) throw Problem{joined(at(key), ": expected a list")};
        for (std::size_t i = 0; i < list.size(); ++i) {
            Reader one{list[i], joined(at(key), "/", i)};
            take_one(one);
            one.done();
        }
    }

    std::string text(const std::string& key) { return text_of(take(key), at(key)); }
    std::string text(const std::string& key, std::string otherwise) {
        return has(key) ? text(key) : std::move(otherwise);
    }
    double number(const std::string& key) {
        const auto& value = take(key);
        if (!value.is_number()) throw Problem{joined(at(key), ": expected a number")};
        return value.get<double>();
    }
    std::int64_t integer(const std::string& key) {
        const auto& value = take(key);
        if (!value.is_number_integer()) throw Problem{joined(at(key), ": expected a whole number")};
        return value.get<std::int64_t>();
    }
    bool flag(const std::string& key) {
        if (!has(key)) return false;
        const auto& value = take(key);
        if (!value.is_boolean()) throw Problem{joined(at(key), ": expected true or false")};
        return value.get<bool>();
    }
    /// Texts of a list.
    std::vector<std::string> texts(const std::string& key) { return texts_of(take(key), at(key)); }
    static std::vector<std::string> texts_of(const Json& list, const std::string& at) {
        if (!list.is_array())
            throw Problem{joined(at, ": expected a list of texts; there is no shell that would "
                                     "split one")};
        std::vector<std::string> texts;
        for (const auto& item : list) texts.push_back(text_of(item, at));
        return texts;
    }
    static std::string text_of(const Json& value, const std::string& at) {
        if (!value.is_string()) throw Problem{joined(at, ": expected a text")};
        auto text = value.get<std::string>();
        if (text.find('\0') != text.npos) throw Problem{joined(at, ": holds a NUL")};
        return text;
    }
    /// After everything that may be there was taken.
    void done() const {
        for (const auto& item : value_.items())
            if (!asked_.contains(item.key()))
                throw Problem{joined(at_, ": unknown key \"", item.key(), "\"")};
    }

private:
    const Json& value_;
    std::string at_;
    std::set<std::string> asked_;
};

} // namespace assay::external
