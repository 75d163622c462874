// SPDX-License-Identifier: Apache-2.0
//
// A case of a benchmark of several processes, on one rank of a job: what it promises, and what was broken.

#pragma once

#include "peers/subject.hpp"

#include <iostream>
#include <string>

namespace assay::peers {

class JobTrial {
public:
    JobTrial(const std::string& module, const std::string& id, const record::NamedList& values)
        : subject_{module, id, values, true}, name_{id} {
        for (const auto& value : values)
            name_ += " " + value.name + "=" + record::to_string(value.value);
    }
    int rank() const { return subject_.team()->rank; }
    int failures() const { return failures_; }

protected:
    void expect(bool right, const std::string& when) {
        const auto check = subject_.loaded().verify();
        if (!check)
            fail(when + ": " + check.error().message);
        else if (check->passed != right)
            fail(when + (right ? ": refused, " + check->detail : ": not noticed"));
    }
    void fail(const std::string& what) {
        std::cerr << name_ << ", rank " << rank() << ": " << what << '\n';
        ++failures_;
    }
    Subject& subject() { return subject_; }

private:
    Subject subject_;
    std::string name_;
    int failures_ = 0;
};

} // namespace assay::peers
