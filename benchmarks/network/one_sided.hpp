// SPDX-License-Identifier: Apache-2.0
//
// Puts and gets: one rank moves data, the other one only drives the library until it hears that all is there. What one of them
// is, its Operation says: info, gets (who holds the result?), call(wire, own, partner's, pending).

#pragma once

#include "stream.hpp"

#include <assay/define.hpp>

#include <atomic>

namespace assay::network {

template <class Operation>
class OneSided : public Stream {
public:
    static constexpr Info info = Operation::info;

    static constexpr auto axes = [] {
        using namespace assay::units;
        return std::tuple{pairs_axis<Params>(),
                          integer("bytes", "size of a message", "B", &Params::bytes,
                                  {8, 64, 512, 4_KiB, 32_KiB, 256_KiB, 2_MiB, 16_MiB, 64_MiB},
                                  {8, 4_GiB}),
                          window_axis<Params>(), direction_axis<Params>(), way_axis<Params>()};
    }();

    static Fit fit(const Params& params, const Machine& machine) {
        return fits(params, 1, machine);
    }

    OneSided(const Params& params, Context& context)
        : Stream{Wire::Use::one_sided, params, 1, context},
          signals_{wire_, signal_words, Where::host} {
        wire_.part(); // nobody puts before all have made their memory
        set_length(context, [this] { run(); });
    }

    void run() noexcept {
        ++calls_;
        all_messages_ += messages_;
        if (leads_) {
            for (std::uint64_t i = 0; i < messages_; ++i) {
                wait_for_room();
                Operation::call(wire_, from_, to_, under_way_);
            }
            tell();
        }
        if (follows_)
            while (heard() < calls_) wire_.progress();
    }
    Check verify() const { return check(Operation::gets ? leads_ : follows_, to_.held()); }
    void spoil() { to_.spoil(to_.size() / 2); }

private:
    static constexpr std::size_t signal_words =
        16; ///< a line for what is heard, one for what is told

    /// That all is there: the number of this call, behind everything else, and there when this returns.
    void tell() noexcept {
        if (Operation::gets) wire_.finish(under_way_);
        wire_.fence();
        signals_[signal_words / 2] = calls_;
        wire_.put(signals_.piece(signal_words / 2, 1), signals_.piece(0, 1), under_way_);
        wire_.flush();
        wire_.finish(under_way_);
    }
    Word heard() noexcept { return std::atomic_ref{signals_[0]}.load(std::memory_order_acquire); }

    Memory signals_;
    std::uint64_t calls_ = 0;
};

} // namespace assay::network
