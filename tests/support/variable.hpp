// SPDX-License-Identifier: Apache-2.0
//
// A variable of the environment, until the end of its scope.

#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace assay::test {

// NOLINTBEGIN(concurrency-mt-unsafe): before there are other threads
class Variable {
public:
    Variable(const char* name, const std::string& value) : name_{name} {
        if (const char* before = std::getenv(name)) before_ = before;
        ::setenv(name, value.c_str(), 1);
    }
    ~Variable() {
        if (before_)
            ::setenv(name_, before_->c_str(), 1);
        else
            ::unsetenv(name_);
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    const char* name_;
    std::optional<std::string> before_;
};
// NOLINTEND(concurrency-mt-unsafe)

} // namespace assay::test
