// SPDX-License-Identifier: Apache-2.0
#include "device/benchmark.cuh"
#include "memory/device_stream_shapes.hpp"
#include "memory/stream_data.hpp"

#include <bit>

namespace assay::memory {
namespace {

struct BulkArrays {
    std::byte* out;
    const std::byte* in;
    std::uint32_t* sums; ///< one for each thread
    BulkShape shape;
};

/// The ring of this warp, whose first lane asks for the copies.
template <unsigned slots>
struct Ring {
    BulkArrays arrays;
    std::uint32_t piece;
    unsigned number;
    std::uint64_t turns;
    std::byte* memory;
    unsigned address; ///< of it
    unsigned barriers;

    __device__ explicit Ring(const BulkArrays& of)
        : arrays{of}, piece{of.shape.piece}, number{blockIdx.x * of.shape.warps + device::warp()},
          turns{of.shape.turns(number)},
          memory{device::dynamic_shared<std::byte>() +
                 static_cast<std::size_t>(device::warp()) * slots * piece},
          address{device::shared_address(memory)},
          barriers{device::shared_address(device::dynamic_shared<std::byte>()) +
                   of.shape.warps * slots * piece +
                   device::warp() * slots * BulkShape::bulk_barrier} {}

    __device__ std::uint64_t at(std::uint64_t turn) const {
        return arrays.shape.piece_of(number, turn) * piece;
    }
    __device__ unsigned slot(std::uint64_t turn) const {
        return static_cast<unsigned>(turn) % slots;
    }
    __device__ unsigned barrier(std::uint64_t turn) const {
        return barriers + slot(turn) * BulkShape::bulk_barrier;
    }
    __device__ void load(std::uint64_t turn) const {
        if (turn >= turns) return;
        device::arrive_expecting(barrier(turn), piece);
        device::bulk_load(address + slot(turn) * piece, arrays.in + at(turn), piece, barrier(turn));
    }
    __device__ void wait(std::uint64_t turn) const {
        device::wait_for_phase(barrier(turn), static_cast<unsigned>(turn) / slots % 2);
    }
    __device__ void store(std::uint64_t turn) const {
        device::bulk_store(arrays.out + at(turn), address + slot(turn) * piece, piece);
    }
    /// The first loads, one for each slot; the barriers are ready when this returns.
    __device__ void start() const {
        if (device::lane() == 0) {
            for (unsigned k = 0; k < slots; ++k) device::init_barrier(barrier(k), 1);
            device::fence_before_bulk();
            for (unsigned k = 0; k < slots; ++k) load(k);
        }
        __syncwarp();
    }

    /// Half of the slots are stored while the others are loaded.
    __device__ void copy() const {
        constexpr unsigned half = slots / 2;
        start();
        if (device::lane() != 0) return;
        for (std::uint64_t turn = 0; turn < turns; ++turn) {
            wait(turn);
            store(turn);
            device::wait_for_bulk_reads<half>();
            if (turn >= half) load(turn - half + slots);
        }
        device::wait_for_bulk_reads<0>();
    }
    __device__ void read() const {
        start();
        std::uint32_t sum = 0;
        for (std::uint64_t turn = 0; turn < turns; ++turn) {
            wait(turn);
            const auto* const vectors =
                reinterpret_cast<const ulonglong2*>(memory + std::size_t{slot(turn)} * piece);
#pragma unroll 4
            for (unsigned i = device::lane(); i < piece / sizeof(ulonglong2);
                 i += device::warp_lanes) {
                const ulonglong2 two = vectors[i];
                sum += bulk_part(two.x, two.y);
            }
            __syncwarp(); // all have read the slot
            if (device::lane() == 0) load(turn + slots);
        }
        arrays.sums[static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x] = sum;
    }
    __device__ void write() const {
        auto* const words = reinterpret_cast<std::uint64_t*>(memory);
        for (std::uint64_t i = device::lane(); i < slots * arrays.shape.words();
             i += device::warp_lanes)
            words[i] = bulk_slot_word(arrays.shape, number, i / arrays.shape.words(),
                                      i % arrays.shape.words());
        device::fence_before_bulk();
        __syncwarp();
        if (device::lane() != 0) return;
        for (std::uint64_t turn = 0; turn < turns; ++turn) {
            device::wait_for_bulk_reads<slots - 1>();
            words[slot(turn) * arrays.shape.words()] = arrays.shape.piece_of(number, turn);
            device::fence_before_bulk();
            store(turn);
        }
        device::wait_for_bulk_reads<0>();
    }
};

template <Kernel kernel, unsigned slots>
__global__ void __launch_bounds__(most_bulk_warps* device::warp_lanes) bulk(BulkArrays arrays) {
    const Ring<slots> ring{arrays};
    if constexpr (kernel == Kernel::copy)
        ring.copy();
    else if constexpr (kernel == Kernel::read)
        ring.read();
    else
        ring.write();
}

using Loop = void (*)(BulkArrays);

template <Kernel kernel>
Loop loop_for(unsigned slots) {
    return slots == 2   ? bulk<kernel, 2>
           : slots == 4 ? bulk<kernel, 4>
           : slots == 8 ? bulk<kernel, 8>
                        : bulk<kernel, 16>;
}
Loop loop_for(Kernel kernel, unsigned slots) {
    return kernel == Kernel::copy   ? loop_for<Kernel::copy>(slots)
           : kernel == Kernel::read ? loop_for<Kernel::read>(slots)
                                    : loop_for<Kernel::write>(slots);
}

/// Word of what is read, or of what must have been written.
struct BulkWord {
    Kernel kernel;
    BulkShape shape;
    ASSAY_HOST_DEVICE std::uint64_t operator()(std::uint64_t i) const {
        return kernel == Kernel::write ? bulk_written(shape, i) : bulk_word(i);
    }
};
struct BulkSum {
    BulkShape shape;
    ASSAY_HOST_DEVICE std::uint32_t operator()(std::uint64_t thread) const {
        return bulk_sum(shape, thread, device::warp_lanes);
    }
};

class DeviceBulkCopy : public device::OnDevice {
public:
    struct Params {
        Kernel kernel = Kernel::copy;
        std::int64_t piece = 8_KiB;
        std::int64_t in_flight = 64_KiB;
        Symbolic footprint = Symbol::beyond_cache;
    };
    static constexpr Info info{
        .id = "memory.bulk_copy",
        .question = "What memory bandwidth do bulk asynchronous copies (TMA) reach on this device, "
                    "by their size and the bytes in flight?",
        .method =
            "cp.async.bulk between global and shared memory, one block per multiprocessor. Each "
            "warp has a ring of 2 to 16 slots, whose loads end on mbarriers and whose stores are "
            "waited for by bulk groups. copy: half of the slots are loaded while the others are "
            "stored. read: all lanes of a warp add up each slot in shared memory. write: slots of "
            "random words with the number of the piece. Every 8-byte word of copy and write is "
            "compared on the device with its recomputation, and the sum of every thread of read.",
        .caveats =
            "`in_flight` is shared memory of a multiprocessor, of which copy loads into one half. "
            "One thread of each warp issues the copies. Compare with memory.stream, which uses "
            "loads and stores of 16 bytes. 3.35 TB/s at 700 ns are 18 KiB on each of 132 "
            "multiprocessors.",
        .headline = "bandwidth",
        .ceiling = "memory.stream",
        .place = device::place_kind,
        .bound = Bound::memory,
        .noise = Noise::memory,
    };
    static constexpr std::tuple axes{
        choice(
            "kernel", "copy a=b, read (global to shared memory), write (shared to global memory)",
            &Params::kernel,
            {Name{"copy", Kernel::copy}, Name{"read", Kernel::read}, Name{"write", Kernel::write}}),
        integer("piece", "bytes of one bulk copy, a power of two", "B", &Params::piece,
                {2_KiB, 8_KiB}, {1_KiB, 16_KiB}),
        integer("in_flight", "shared memory of a multiprocessor for copies, a power of two", "B",
                &Params::in_flight, {16_KiB, 32_KiB, 64_KiB, 128_KiB}, {2_KiB, 128_KiB}),
        footprint_axis("bytes over all arrays", &Params::footprint, {Symbol::beyond_cache},
                       {64_KiB, 16_TiB}),
    };

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        const auto is_power = [](std::int64_t number) {
            return std::has_single_bit(static_cast<std::uint64_t>(number));
        };
        if (Fit fits = Fit::needs(is_power(p.piece) && is_power(p.in_flight),
                                  "powers of two for piece and in_flight");
            !fits)
            return fits;
        if (p.in_flight < 2 * p.piece || p.in_flight > 128 * p.piece)
            return Fit::no("not applicable: in_flight is 2 to 128 pieces");
        return device::fits_device(device::footprint_or(p.footprint, arrays_of(p.kernel) * 256_MiB),
                                   90);
    }

    DeviceBulkCopy(const Params& p, const Context& context)
        : kernel_{p.kernel}, shape_{shape_of(p)}, loop_{loop_for(kernel_, shape_.slots)},
          in_{kernel_ == Kernel::write ? 0 : words()}, out_{kernel_ == Kernel::read ? 0 : words()},
          sums_{kernel_ == Kernel::read ? std::size_t{shape_.rings()} * device::warp_lanes : 0} {
        device::check(cudaFuncSetAttribute(loop_, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(shape_.shared_bytes())));
        if (in_.size() > 0)
            device::for_each_now(stream_, in_.size(),
                                 device::Fill{in_.data(), BulkWord{kernel_, shape_}});
        device::describe_footprint(footprint_of(kernel_, words()), context);
        context.setting("blocks", shape_.blocks);
        context.setting("block_threads", shape_.warps * device::warp_lanes);
        context.setting("slots_per_warp", shape_.slots);
    }

    void run() {
        const BulkArrays arrays{reinterpret_cast<std::byte*>(out_.data()),
                                reinterpret_cast<const std::byte*>(in_.data()), sums_.data(),
                                shape_};
        device::launch(loop_,
                       {shape_.blocks, shape_.warps * device::warp_lanes, stream_.get(),
                        shape_.shared_bytes()},
                       arrays);
    }
    Work work() const { return {.bytes = work_of(kernel_, words()).bytes}; }

    Check verify() const {
        if (kernel_ == Kernel::read) return device::check_sums(stream_, sums_, BulkSum{shape_});
        return device::check_each(stream_, out_.size(),
                                  device::Differs{out_.data(), BulkWord{kernel_, shape_}}, 0,
                                  "every word recomputed on the device");
    }
    void poison() {
        if (kernel_ == Kernel::read)
            device::poison_sums(stream_, sums_, BulkSum{shape_});
        else
            device::for_each_now(stream_, out_.size(),
                                 device::Complement{out_.data(), BulkWord{kernel_, shape_}});
    }
    /// One bit of one word, or of one sum.
    void spoil() {
        if (kernel_ == Kernel::read)
            device::flip_bit(sums_, spoils_.next(), stream_);
        else
            device::flip_bit(out_, spoils_.next(), stream_);
    }
    Outputs outputs() const {
        return {kernel_ == Kernel::read ? device::output(sums_, stream_)
                                        : device::output(out_, stream_)};
    }

private:
    static BulkShape shape_of(const Params& p) {
        const auto found = device::properties();
        const std::int64_t arrays = arrays_of(p.kernel);
        return bulk_shape(device::footprint(p.footprint, arrays, found) / arrays, p.piece,
                          p.in_flight, found.multiprocessors);
    }
    std::size_t words() const { return shape_.pieces * shape_.words(); }

    Kernel kernel_;
    BulkShape shape_;
    Loop loop_;
    device::Buffer<std::uint64_t> in_;
    device::Buffer<std::uint64_t> out_;
    device::Buffer<std::uint32_t> sums_; // of the threads
    Picks spoils_{19};
};

} // namespace

extern constinit const assay_benchmark device_bulk_copy = define<DeviceBulkCopy>();

} // namespace assay::memory
