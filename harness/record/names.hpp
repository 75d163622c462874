// SPDX-License-Identifier: Apache-2.0
//
// For whoever asks for many names of one list: record::find reads the list each time.

#pragma once

#include "record/model.hpp"

#include <string_view>
#include <unordered_map>

namespace assay::record {

/// Refers to the list, which must outlive it. Of equal names the first counts.
class NameIndex {
public:
    explicit NameIndex(const NamedList& list) {
        values_.reserve(list.size());
        for (const Named& named : list) values_.try_emplace(named.name, &named.value);
    }
    const Value* find(std::string_view name) const {
        const auto found = values_.find(name);
        return found == values_.end() ? nullptr : found->second;
    }

private:
    std::unordered_map<std::string_view, const Value*> values_;
};

} // namespace assay::record
