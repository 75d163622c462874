// SPDX-License-Identifier: Apache-2.0
#include "pairs.hpp"

#include "collective/ranks.hpp"
#include "where.hpp"

#include <stdexcept>
#include <string>

namespace assay::network {
namespace {

std::string odd(std::int64_t ranks) {
    return joined("needs an even number of ranks, two for each pair, not ", ranks);
}

} // namespace

Fit fit_pairs(Symbolic ranks, std::int64_t bytes_per_rank, const Machine& machine) {
    if (auto fit = collective::fit_ranks(ranks, bytes_per_rank, machine); !fit) return fit;
    const auto count = collective::rank_count(ranks, machine);
    return count % 2 == 0 ? fit_place(count, bytes_per_rank, machine) : Fit::no(odd(count));
}

int join_pairs(Symbolic ranks, Context& context) {
    const int count = collective::join_ranks(ranks, context);
    if (count % 2 != 0) throw std::runtime_error{odd(count)};
    return count;
}

} // namespace assay::network
