// SPDX-License-Identifier: Apache-2.0

#include "base/quantity.hpp"
#include "base/text.hpp"
#include "document/text.hpp"
#include "files.hpp"
#include "predict/document.hpp"
#include "predict/prediction.hpp"
#include "store/collection.hpp"
#include "verbs.hpp"

#include <fmt/core.h>

#include <cmath>
#include <string_view>
#include <vector>

namespace assay::reports_cli {
namespace {

/// A sensible number of nodes or of ranks on one.
Result<double> count_of(std::string_view option, double number) {
    constexpr double most = 1e7;
    if (number >= 1 && number <= most && number == std::floor(number)) return number;
    return fail(fmt::format("{}: invalid number {:g} (expected 1 to 10000000)", option, number));
}

Result<predict::PredictOptions> what_is_asked(const Options& options) {
    predict::PredictOptions out{.filter = options.predicting.filter};
    const auto& asked = options.predicting;
    const auto collective = value_named<predict::Collective>(asked.collective);
    if (!collective)
        return fail(fmt::format("unknown collective \"{}\"{}", plain(asked.collective, 60),
                                suggestion(asked.collective, all_names(predict::Collective{}))));
    out.collective = *collective;
    ASSAY_TRY(const auto nodes, count_of("--nodes", asked.nodes));
    ASSAY_TRY(const auto ranks, count_of("--ranks-per-node", asked.ranks_per_node));
    out.nodes = nodes;
    out.ranks_per_node = ranks;
    if (out.nodes * out.ranks_per_node < 2)
        return fail("a collective needs at least two ranks; set --nodes N or --ranks-per-node N");
    for (const auto& text : asked.sizes) {
        ASSAY_TRY(out.sizes.emplace_back(), parse_bytes(text));
    }
    if (!asked.algorithm.empty()) {
        out.algorithm = value_named<predict::Algorithm>(asked.algorithm);
        if (!out.algorithm)
            return fail(fmt::format("--algorithm: unknown algorithm \"{}\"{}",
                                    plain(asked.algorithm, 60),
                                    suggestion(asked.algorithm, all_names(predict::Algorithm{}))));
    }
    if (!asked.node_bandwidth.empty()) {
        ASSAY_TRY(out.node_bandwidth, parse_rate(asked.node_bandwidth));
    }
    return out;
}

} // namespace

Result<ExitCode> predict(const Options& options) {
    ASSAY_TRY(const auto asked, what_is_asked(options));
    ASSAY_TRY(const auto collection, collect(options.inputs, options.collecting));
    ASSAY_TRY(const auto prediction, predict_collective(collection, asked));
    ASSAY_TRY(deliver(options, outputs_of(prediction), inputs_of(collection.runs)));
    return has_prediction(prediction) ? ExitCode::done : ExitCode::inconclusive;
}

} // namespace assay::reports_cli
