// SPDX-License-Identifier: Apache-2.0
//
// Chains of one instruction on every thread, on numbers of its own, against results that are known.

#pragma once

#include <assay/host.hpp>
#include <assay/random.hpp>
#include <assay/verify.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::peak {

/// 2^17 steps of 12 or more instructions are 0.2 ms or more, a hundred times the cost of starting and ending a
/// parallel region on many cores.
inline constexpr std::size_t chain_steps = std::size_t{1} << 17U;

/// Kind: Value, Path and Chain; count(chain), the vectors of a thread; start(i); recompute(chain, lanes, values);
/// run(path's function, start, result); work(steps of all numbers); error(got, expected); poisoned(expected), which
/// no number comes out as; damage(value); method.
template <class Kind>
class ThreadChains {
public:
    using T = typename Kind::Value;

    ThreadChains(const typename Kind::Chain& chain, const typename Kind::Path& path, int threads)
        : run_{path.run}, lanes_{path.lanes()}, threads_{threads},
          own_{Kind::count(chain) * lanes_}, start_{buffer()}, result_{buffer()},
          expected_{buffer()} {
        on_each_thread(threads_, [&](std::size_t thread, std::size_t /*team*/) {
            const Slice own{.first = thread * stride(), .last = thread * stride() + own_};
            const std::span<T> values = start_.view(own);
            for (std::size_t i = 0; i < own_; ++i) values[i] = Kind::start(own.first + i);
            std::ranges::copy(values, expected_.view(own).begin());
            Kind::recompute(chain, lanes_, expected_.view(own));
        });
        poison();
    }

    void run() noexcept {
        on_each_thread(threads_, [&](std::size_t thread, std::size_t /*team*/) {
            const std::size_t at = thread * stride();
            Kind::run(run_, start_.data() + at, result_.data() + at);
        });
    }
    Work work() const {
        return Kind::work(static_cast<double>(own_) * static_cast<double>(chain_steps) * threads_);
    }
    Check verify() const {
        return check_each(
            static_cast<std::size_t>(threads_) * own_,
            [&](std::size_t i) {
                const std::size_t at = i / own_ * stride() + i % own_;
                return Kind::error(result_[at], expected_[at]);
            },
            0, Kind::method);
    }
    void poison() {
        for (std::size_t i = 0; i < result_.size(); ++i) result_[i] = Kind::poisoned(expected_[i]);
    }
    void spoil() {
        const std::uint64_t pick = spoils_.next();
        const std::size_t thread = pick % static_cast<std::size_t>(threads_);
        Kind::damage(result_[thread * stride() + (pick >> 32U) % own_]);
    }
    std::size_t lanes() const { return lanes_; }

private:
    /// Numbers of one thread, with a gap to the next one's lines, which prefetchers fetch in pairs.
    std::size_t stride() const {
        constexpr std::size_t gap = 2 * line_granule<T>;
        return (own_ + gap - 1) / gap * gap + gap;
    }
    HostBuffer<T> buffer() const {
        return HostBuffer<T>{stride() * static_cast<std::size_t>(threads_), {.threads = threads_}};
    }

    decltype(Kind::Path::run) run_;
    std::size_t lanes_;
    int threads_;
    std::size_t own_; // numbers of one thread
    HostBuffer<T> start_;
    HostBuffer<T> result_;
    HostBuffer<T> expected_; // what result_ must be
    Picks spoils_{6};
};

} // namespace assay::peak
