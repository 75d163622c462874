// SPDX-License-Identifier: Apache-2.0
#include "run/decided.hpp"

#include "decide/acceptance.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace assay::run {

const Judgement* Decided::by_now(const ActiveRun& active) {
    if (!options_.judge) return nullptr;
    bool is_due = false;
    asked_with_.resize(active.plan().cases.size());
    for (std::size_t index = 0; index < asked_with_.size(); ++index) {
        const auto count = active.at(index).replicas.size();
        is_due |= count != std::exchange(asked_with_[index], count) &&
                  std::ranges::find(decide::pass_looks, count) != decide::pass_looks.end();
    }
    if (!is_due) return last();
    const auto file = active.write_so_far();
    judgement_ = file ? options_.judge(*file) : std::nullopt;
    std::error_code error; // left behind it does no harm: nobody else looks for this name
    if (file) std::filesystem::remove(*file, error);
    return last();
}

} // namespace assay::run
