// SPDX-License-Identifier: Apache-2.0
//
// The verdict on a made-up node, whole.

#include "expect_golden.hpp"
#include "judge/document.hpp"
#include "support/made_judgement.hpp"
#include "write/terminal.hpp"

#include <gtest/gtest.h>

namespace assay::report {
namespace {

TEST(JudgementGolden, Terminal) {
    test::expect_golden("check.txt", write::to_terminal({{make_document(test::made_judgement())}}));
}

} // namespace
} // namespace assay::report
