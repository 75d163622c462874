// SPDX-License-Identifier: Apache-2.0
//
// Is a fault of a library (ASSAY_CPU_FAULT) noticed by the benchmark that uses it?

#pragma once

#include "case.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace assay::device_on_cpu {

/// The check of a case that ran right, ran with the fault, and ran right again.
inline void expect_noticed(const char* fault, const std::string& module, const std::string& id,
                           const Given& given) {
    SCOPED_TRACE(fault + (' ' + id));
    Case one{benchmark_of(ASSAY_MODULES_ON_CPU "/" + module + ".so", id), given};
    ASSERT_EQ(one.create(), "");
    EXPECT_EQ(one.sample(1), "");
    EXPECT_EQ(one.verdict(), "");
    EXPECT_EQ(one.poison(), ""); // as before every call that is verified
    ::setenv("ASSAY_CPU_FAULT", fault, 1);
    EXPECT_EQ(one.sample(1), "");
    ::unsetenv("ASSAY_CPU_FAULT"); // or the check's own transform back would have it as well
    EXPECT_NE(one.verdict(), "");
    EXPECT_EQ(one.sample(1), "");
    EXPECT_EQ(one.verdict(), "");
}

} // namespace assay::device_on_cpu
