// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of a network, each with its own data: what is counted and checked, whatever library runs them.

#pragma once

#include "convolution_data.hpp"
#include "samples.hpp"

#include <assay/define.hpp>

#include <deque>
#include <vector>

namespace assay::workload {

/// `Convolution` has `layer`, `data`, `results` (elements, numbered as place_of() counts), at(number) of one of them,
/// and spoil(slice), which makes data.damaged() of them.
template <class Convolution>
class Layers {
public:
    Work work() const {
        std::int64_t products = 0;
        for (const Convolution& c : convolutions_) products += c.layer.products();
        const double operations = 2 * static_cast<double>(products * batch_);
        Work work;
        (precision_ == Precision::int8 ? work.operations : work.flops) = operations;
        // A rate of images is one of the whole network, or it misleads.
        if (is_whole_) work.items = static_cast<double>(batch_);
        return work;
    }
    /// Damages a row of outputs long enough to hold a sample, by the smallest error that matters.
    void spoil() {
        const std::uint64_t pick = spoils_.next();
        const std::size_t which = pick % convolutions_.size();
        convolutions_[which].spoil(samples_of(which).damage(pick >> 16U));
    }

protected:
    /// `is_whole`: the whole network, whose images are counted.
    Layers(bool is_whole, std::int64_t batch, Precision precision)
        : is_whole_{is_whole}, batch_{batch}, precision_{precision} {}

    Check check(const char* bound_in_words) const {
        const std::size_t each = samples_of(0).size();
        const auto sample = [&](std::size_t i) { return samples_of(i / each)[i % each]; };
        std::vector<float> got(each * convolutions_.size()); // one thread alone asks a device
        for (std::size_t i = 0; i < got.size(); ++i) got[i] = convolutions_[i / each].at(sample(i));
        return check_each(
            got.size(),
            [&](std::size_t i) {
                const Convolution& c = convolutions_[i / each];
                return c.data.error(place_of(sample(i), c.layer), got[i]);
            },
            convolutions_.front().data.bound(),
            joined(each, " outputs of every layer recomputed", bound_in_words));
    }
    /// Moves on to other samples.
    void next_round() { ++round_; }

    std::deque<Convolution> convolutions_; // stay where they are

private:
    /// The smallest layer of a network of flat images has 25,088 outputs, so there are as many samples of each.
    Samples samples_of(std::size_t which) const {
        constexpr std::size_t of_one = 256;
        constexpr std::size_t of_many = 64;
        return {convolutions_[which].results, convolutions_.size() == 1 ? of_one : of_many, round_};
    }

    bool is_whole_;
    std::int64_t batch_;
    Precision precision_;
    std::uint64_t round_ = 0;
    Picks spoils_{41};
};

} // namespace assay::workload
