// SPDX-License-Identifier: Apache-2.0

#include "device/place.hpp"
#include "transfer/copies.hpp"
#include "transfer/copy_kernels.hpp"

#include <assay/define.hpp>

namespace assay::transfer {
namespace {

class DeviceCopies : public device::OnDevice {
public:
    struct Params {
        Engine engine = Engine::copy_engine;
        std::int64_t bytes = 0;
    };
    static constexpr Info info{
        .id = "transfer.device",
        .version = 2, // 1: a third of the blocks waited for the others
        .question = "How fast does this device copy within its own memory?",
        .method = "Copies of random 64-bit words between two buffers by cudaMemcpyAsync "
                  "(copy_engine) or by a kernel with 16-byte loads and stores, back to back on one "
                  "stream, timed with device events, launch overhead excluded. Every word is "
                  "compared on the device with its recomputation from the random seed.",
        .caveats =
            "Counts each byte twice, read and written; tools that count it once show half. One "
            "copy engine need not saturate the memory; within a device the driver may also use a "
            "kernel. Copies that fit in the second-level cache measure that cache.",
        .headline = "bandwidth",
        .ceiling = "memory.stream",
        .place = device::place_kind,
        .trial_bytes = 256_KiB,
        .bound = Bound::memory,
        .noise = Noise::memory,
    };
    static constexpr std::tuple axes{
        choice("engine", "what copies: cudaMemcpyAsync (copy_engine) or a kernel", &Params::engine,
               {{"copy_engine", Engine::copy_engine}, {"kernel", Engine::kernel}}),
        integer("bytes", "size of a copy", "B", &Params::bytes, {1_GiB}, {4_KiB, 256_GiB}),
    };

    static Fit fit(const Params& p, const Machine& /*m*/) {
        return device::fits_device(2 * p.bytes);
    }
    DeviceCopies(const Params& p, const Context& context)
        : OnDevice{{.operations = copies_as_operations}}, engine_{p.engine},
          from_{words_in(p.bytes)}, to_{words_in(p.bytes)},
          // All that run at once: one more would be a second wave, with most of the device idle.
          blocks_{copy_blocks(from_.size(), device::properties().multiprocessors,
                              resident_copy_blocks())} {
        make_words(from_.data(), from_.size(), seed, stream_);
        context.setting("bytes", from_.bytes());
        context.tell({.footprint_bytes = static_cast<double>(from_.bytes())});
        if (engine_ == Engine::copy_engine) return;
        context.setting("blocks", blocks_);
        context.setting("block_threads", copy_threads);
    }

    void run() {
        if (engine_ == Engine::kernel)
            return copy_by_kernel(from_.data(), to_.data(), from_.size(), blocks_, stream_);
        device::check(cudaMemcpyAsync(to_.data(), from_.data(), from_.bytes(),
                                      cudaMemcpyDeviceToDevice, stream_.get()));
    }
    Work work() const { return {.bytes = 2 * static_cast<double>(from_.bytes())}; }
    Check verify() const { return check_words(to_.data(), to_.size(), seed, stream_); }
    void poison() { device::set_bytes(to_, 0xff, stream_); }
    /// One bit.
    void spoil() { device::flip_bit(to_, spoils_.next(), stream_); }

private:
    static constexpr std::uint64_t seed = 34;

    Engine engine_;
    device::Buffer<std::uint64_t> from_;
    device::Buffer<std::uint64_t> to_;
    unsigned blocks_;
    Picks spoils_{35};
};

} // namespace

extern constinit const assay_benchmark device_copies = define<DeviceCopies>();

} // namespace assay::transfer
