// SPDX-License-Identifier: Apache-2.0
//
// What the placeholders of a description stand for in one case.

#pragma once

#include "external/description.hpp"

#include <map>
#include <string>

namespace assay::external {

class Fill {
public:
    /// `values`: of each parameter as a text, symbols resolved.
    Fill(const Description& description, std::map<std::string, std::string> values);

    void set(const std::string& name, std::string value) { values_[name] = std::move(value); }
    void set(const std::string& name, Arguments values) { lists_[name] = std::move(values); }
    /// "{size}" and the like; throws where nothing is called so.
    std::string text(const std::string& from) const;
    /// An argument that is one placeholder becomes as many as that stands for: none, one or several.
    Arguments arguments(const Arguments& from) const;
    /// Fills a file, where braces are the program's own: "@size@". Unknown names stay as they are.
    std::string file(const std::string& from) const;
    Where where(Where from) const;
    Metric metric(Metric from) const;
    Check check(Check from) const;
    const std::string& value(const std::string& parameter) const { return values_.at(parameter); }

private:
    const Arguments* word(const std::string& name) const;
    /// `left`: how many may still be replaced, so that words that contain each other end.
    std::string filled(const std::string& from, int& left) const;
    std::string one(const std::string& name, int& left) const;

    const Description& description_;
    std::map<std::string, std::string> values_;
    std::map<std::string, Arguments> lists_;
};

} // namespace assay::external
