// SPDX-License-Identifier: Apache-2.0
//
// A prediction of a known network, whole.

#include "expect_golden.hpp"
#include "language/language.hpp"
#include "render/prediction.hpp"
#include "support/measured_collective.hpp"

#include <gtest/gtest.h>

namespace assay::report {
namespace {

Prediction sample_prediction() {
    const auto collection = measured_allreduce({}, {1, 2, 4}, 8, 0.02, 1);
    return *predict_collective(collection, {.nodes = 1024,
                                            .ranks_per_node = 8,
                                            .sizes = {8, 1 << 20, 1 << 30},
                                            .algorithm = {},
                                            .node_bandwidth = 50e9,
                                            .filter = {}});
}

TEST(PredictionGolden, Terminal) {
    test::expect_golden("predict.txt", to_terminal(sample_prediction()));
}
TEST(PredictionGolden, Chinese) {
    use_language(Language::zh);
    const auto text = to_terminal(sample_prediction());
    use_language(Language::en);
    test::expect_golden("predict.zh.txt", text);
}

} // namespace
} // namespace assay::report
