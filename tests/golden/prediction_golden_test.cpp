// SPDX-License-Identifier: Apache-2.0
//
// A prediction of a known network, whole.

#include "document/language.hpp"
#include "expect_golden.hpp"
#include "latin.hpp"
#include "predict/document.hpp"
#include "predict/prediction_data.hpp"
#include "support/measured_collective.hpp"
#include "write/terminal.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

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

std::vector<document::Document> sample_document() { return {make_document(sample_prediction())}; }

TEST(PredictionGolden, Terminal) {
    test::expect_golden("predict.txt", write::to_terminal(sample_document()));
}
/// Fits end in digits that differ between compilers: three are kept of what is longer.
std::string shortened(const std::string& text) {
    static const std::regex long_number{R"(-?\d+\.\d{2,}(e[-+]?\d+)?|\d+e[-+]?\d+)"};
    std::string out;
    auto rest = text.cbegin();
    for (std::sregex_iterator found{text.begin(), text.end(), long_number}, end; found != end;
         ++found) {
        out.append(rest, (*found)[0].first);
        out += fmt::format("{:.3g}", std::stod(found->str()));
        rest = (*found)[0].second;
    }
    return out.append(rest, text.cend());
}

TEST(PredictionGolden, Csv) {
    test::expect_golden("predict.csv", shortened(to_csv(sample_prediction())));
}
TEST(PredictionGolden, Json) {
    test::expect_golden_json("predict.json", shortened(to_json(sample_prediction())));
}
TEST(PredictionGolden, InChineseNothingIsEnglish) {
    use_language(Language::zh);
    EXPECT_THAT(test::latin_sentences(sample_document()), testing::IsEmpty());
    use_language(Language::en);
    EXPECT_THAT(test::latin_sentences(sample_document()), testing::Not(testing::IsEmpty()));
}

} // namespace
} // namespace assay::report
