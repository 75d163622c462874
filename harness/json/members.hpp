// SPDX-License-Identifier: Apache-2.0
//
// An object made of many members: Value's own insertion reads all keys each time, which takes hours for a million.

#pragma once

#include "json/json.hpp"

#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace assay::json {

class Members {
public:
    /// Of equal keys the first place and the last value count.
    void set(std::string_view key, Value value) {
        auto& members = object_.get_ref<Value::object_t&>();
        const auto [place, is_new] = places_.try_emplace(std::string{key}, members.size());
        if (is_new)
            members.emplace_back(std::string{key}, std::move(value));
        else
            std::next(members.begin(), static_cast<std::ptrdiff_t>(place->second))->second =
                std::move(value);
    }
    Value take() { return std::move(object_); }

private:
    Value object_ = Value::object();
    std::unordered_map<std::string, std::size_t> places_;
};

} // namespace assay::json
