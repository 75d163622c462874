// SPDX-License-Identifier: Apache-2.0
//
// What calls of the CUDA runtime cost that move no data and compute nothing.

#include "device/clock.hpp"
#include "device/properties.hpp"

#include <assay/define.hpp>

namespace assay::latency {
namespace {

using device::check;
using device::EventClock;

/// Memory that is given out and taken back in the order of a stream, and kept in between.
class Pool {
public:
    Pool() {
        cudaMemPoolProps wanted{};
        wanted.allocType = cudaMemAllocationTypePinned;
        wanted.location.type = cudaMemLocationTypeDevice;
        wanted.location.id = 0;
        cudaMemPool_t raw = nullptr;
        check(cudaMemPoolCreate(&raw, &wanted));
        pool_.reset(raw);
        // Otherwise everything goes back to the system whenever a stream is waited for.
        std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
        check(cudaMemPoolSetAttribute(raw, cudaMemPoolAttrReleaseThreshold, &all));
    }
    void* take(std::size_t bytes, const device::Stream& stream) const {
        void* memory = nullptr;
        check(cudaMallocFromPoolAsync(&memory, bytes, pool_.get(), stream.get()));
        return memory;
    }

private:
    struct Destroy {
        void operator()(cudaMemPool_t pool) const { cudaMemPoolDestroy(pool); }
    };
    std::unique_ptr<std::remove_pointer_t<cudaMemPool_t>, Destroy> pool_;
};

class DeviceCalls {
public:
    enum class Operation : std::uint8_t {
        synchronise,
        query,
        event_record,
        event_query,
        event_wait,
        allocate
    };
    struct Params {
        Operation operation = Operation::synchronise;
    };
    static constexpr Info info{
        .id = "latency.stream",
        .question = "How long do the calls take that order and observe work on a device?",
        .method =
            "Host time over many calls back to back. synchronise, query: cudaStreamSynchronize and "
            "cudaStreamQuery of an idle stream. event_record: cudaEventRecord while the stream is "
            "held. event_query: cudaEventQuery of a completed event. event_wait: cudaEventRecord "
            "and cudaEventSynchronize. allocate: cudaMallocFromPoolAsync and cudaFreeAsync of 1 "
            "MiB while the stream is held, from a pool that keeps its memory. Checked: the result "
            "of every call, the address of every allocation, and that the event has completed.",
        .caveats = "One thread. Waiting for a kernel takes longer than for an idle stream: see "
                   "latency.kernel. The first allocation from a pool takes a thousand times as "
                   "long and is not included.",
        .headline = "latency",
        .place = device::place_kind,
        .noise = Noise::latency,
    };
    static constexpr std::tuple axes{
        choice("operation",
               "synchronise and query (an idle stream), event_record, event_query (one that has "
               "happened), event_wait (record, and wait for it), allocate (and free)",
               &Params::operation,
               {Name{"synchronise", Operation::synchronise}, Name{"query", Operation::query},
                Name{"event_record", Operation::event_record},
                Name{"event_query", Operation::event_query},
                Name{"event_wait", Operation::event_wait}, Name{"allocate", Operation::allocate}}),
    };

    static Fit fit(const Params& p, const Machine& /*m*/) {
        if (const Fit fits = device::fits_device(allocation); !fits) return fits;
        if (p.operation == Operation::allocate &&
            device::attribute(cudaDevAttrMemoryPoolsSupported, 0) == 0)
            return Fit::no("not applicable: the driver has no memory pools for this device");
        return Fit::yes();
    }
    DeviceCalls(const Params& p, const Context& context)
        : operation_{p.operation},
          clock_{stream_,
                 {.launching =
                      is_held(p.operation) ? device::Launching::hidden : device::Launching::plain,
                  .interval = device::Interval::queue,
                  .operations = 2}} {
        if (operation_ == Operation::allocate) pool_ = std::make_unique<Pool>();
        event_.record(stream_);
        event_.wait();
        context.setting("stream_held", is_held(operation_) ? 1 : 0);
    }
    EventClock& clock() { return clock_; }
    void run() {
        ++asked_;
        if (!ask()) throw device::Error{"a call that should succeed at once did not"};
        ++right_;
    }
    Work work() const { return {.steps = 1}; }
    Check verify() const {
        check(cudaEventQuery(event_.get())); // not ready is an error here: all work was waited for
        const bool is_right = asked_ > 0 && right_ == asked_;
        return check_value(is_right ? 0 : 1, 0, "the result of every call",
                           joined(right_, " of ", asked_, " calls succeeded"));
    }
    void poison() { asked_ = right_ = 0; }
    void spoil() { --right_; }
    void rewind() { poison(); }
    static constexpr std::uint64_t safe_calls = std::uint64_t{1} << 40U;

private:
    static constexpr std::int64_t allocation = 1_MiB;

    /// Calls that queue something find a queue that is neither empty nor full.
    static constexpr bool is_held(Operation operation) {
        return operation == Operation::event_record || operation == Operation::allocate;
    }
    bool ask() {
        switch (operation_) {
        case Operation::synchronise:
            return cudaStreamSynchronize(stream_.get()) == cudaSuccess;
        case Operation::query:
            return cudaStreamQuery(stream_.get()) == cudaSuccess;
        case Operation::event_record:
            return cudaEventRecord(event_.get(), stream_.get()) == cudaSuccess;
        case Operation::event_query:
            return cudaEventQuery(event_.get()) == cudaSuccess;
        case Operation::event_wait:
            event_.record(stream_);
            return cudaEventSynchronize(event_.get()) == cudaSuccess;
        case Operation::allocate:
            break;
        }
        void* const memory = pool_->take(allocation, stream_);
        check(cudaFreeAsync(memory, stream_.get()));
        return memory != nullptr && reinterpret_cast<std::uintptr_t>(memory) % 256 == 0;
    }

    Operation operation_;
    std::unique_ptr<Pool> pool_; // outlives the stream that its memory is freed in
    device::Stream stream_;
    EventClock clock_;
    device::Event event_;
    std::uint64_t asked_ = 0;
    std::uint64_t right_ = 0;
};

} // namespace

extern constinit const assay_benchmark device_calls = define<DeviceCalls>();

} // namespace assay::latency
