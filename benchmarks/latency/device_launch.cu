// SPDX-License-Identifier: Apache-2.0
//
// What it costs to start work on a device: one kernel, or a graph of many.

#include "device/benchmark.cuh"
#include "device/graph.hpp"

namespace assay::latency {
namespace {

using device::Interval;

/// The sum is not waited for: no value comes back to the thread.
__global__ void count(unsigned long long* counter) { atomicAdd(counter, 1ULL); }

/// Evidence that kernels ran: each adds one to a counter on the device, and the host knows how many it launched.
class CountedLaunches : public device::OnDevice {
public:
    static constexpr std::uint64_t safe_calls = 1U << 30U;

    Check verify() const {
        const unsigned long long found = counted();
        return check_value(found == expected_ && expected_ > 0 ? 0 : 1, 0,
                           "a counter on the device, one per kernel, after every batch",
                           words(found));
    }
    void poison() {
        set(~0ULL);
        is_spoiled_ = true;
    }
    void spoil() {
        set(counted() + 1);
        is_spoiled_ = true;
    }
    /// Looks whether all that ran since the last start was counted, which ends the case if not, and starts again
    /// at 0. So every batch is checked.
    void rewind() {
        if (const auto found = counted(); !is_spoiled_ && found != expected_)
            throw device::Error{words(found)};
        start();
    }

protected:
    /// Launches the kernel once, which loads it.
    explicit CountedLaunches(const device::EventClock::Options& options) : OnDevice{options} {
        queue();
        device::check_launches();
        start();
    }
    /// Queues one kernel of one thread that counts itself and does nothing else.
    void queue() const { device::launch(count, {1, 1, stream_.get()}, counter_.data()); }
    /// So many of them have been launched, by queue() or by a graph.
    void launched(std::uint64_t kernels) { expected_ += kernels; }

private:
    void start() {
        set(0);
        expected_ = 0;
        is_spoiled_ = false;
    }
    void set(unsigned long long value) { device::put(value, counter_.data(), stream_); }
    unsigned long long counted() const { return device::get(counter_.data(), stream_); }
    std::string words(unsigned long long found) const {
        return joined(found, " of ", expected_, " kernels incremented the counter");
    }

    device::Buffer<unsigned long long> counter_{1};
    std::uint64_t expected_ = 0;
    bool is_spoiled_ = false; // on purpose
};

class KernelLaunch : public CountedLaunches {
public:
    struct Params {
        Interval interval = Interval::completion;
    };
    static constexpr Info info{
        .id = "latency.kernel",
        .question = "How long does it take to launch an empty kernel?",
        .method =
            "One-thread kernels that only increment a counter, on their own stream. completion: "
            "host time from the launch until cudaStreamSynchronize returns. queue: host time of "
            "the launch alone, while the stream is held by a waiting kernel, so that the queue is "
            "neither empty nor full. device: time from one kernel to the next dependent one, by "
            "device events, launch overhead excluded. Checked after every batch: the counter.",
        .caveats =
            "completion is the time a program waits for a result, device the time per dependent "
            "kernel if the host keeps up, queue the launch time of one thread. Device time "
            "includes one addition to a counter. Tracing tools (profilers) lengthen all of them.",
        .headline = "latency",
        .place = device::place_kind,
        .noise = Noise::latency,
    };
    static constexpr std::tuple axes{
        device::interval_axis(&Params::interval),
    };

    static Fit fit(const Params& /*p*/, const Machine& /*m*/) { return device::fits_device(0); }
    KernelLaunch(const Params& p, const Context& context)
        : CountedLaunches{{.interval = p.interval}} {
        context.setting("threads_launched", 1);
    }
    void run() {
        queue();
        launched(1);
    }
    Work work() const { return {.steps = 1}; }
};

class GraphLaunch : public CountedLaunches {
public:
    struct Params {
        std::int64_t nodes = 1;
        Interval interval = Interval::completion;
    };
    static constexpr Info info{
        .id = "latency.graph",
        .question = "How long does it take to launch a graph of kernels, per node?",
        .method = "A chain of one-thread kernels captured from a stream, instantiated and uploaded "
                  "beforehand, launched by cudaGraphLaunch. A call is one launch; latency is per "
                  "node. completion: host time from the launch until cudaStreamSynchronize "
                  "returns. queue: host time of the launch alone, while the stream is held. "
                  "device: time from one launch to the next by device events, launch overhead "
                  "excluded. Checked after every batch: every node increments a counter.",
        .caveats = "Compare with latency.kernel: the cost of a node with that of a launch. "
                   "Making the graph is not timed.",
        .headline = "latency",
        .place = device::place_kind,
        .noise = Noise::latency,
    };
    static constexpr std::tuple axes{
        integer("nodes", "kernels in the graph, one after another", "", &Params::nodes, {1, 32},
                {1, 4096}),
        device::interval_axis(&Params::interval),
    };

    static Fit fit(const Params& /*p*/, const Machine& /*m*/) { return device::fits_device(0); }
    GraphLaunch(const Params& p, const Context& context)
        : CountedLaunches{{.interval = p.interval, .operations = operations(p.nodes)}},
          nodes_{p.nodes}, graph_{stream_, [this] { capture(); }} {
        context.setting("nodes", nodes_);
    }
    void run() {
        graph_.launch(stream_);
        launched(static_cast<std::uint64_t>(nodes_));
    }
    Work work() const { return {.steps = static_cast<double>(nodes_)}; }

private:
    /// Operations of a queued launch: those around the nodes are unknown and counted as four.
    static constexpr int operations(std::int64_t nodes) { return static_cast<int>(nodes) + 4; }
    void capture() const {
        for (std::int64_t node = 0; node < nodes_; ++node) queue();
    }

    std::int64_t nodes_;
    device::Graph graph_;
};

} // namespace

extern constinit const assay_benchmark kernel_launch = define<KernelLaunch>();
extern constinit const assay_benchmark graph_launch = define<GraphLaunch>();

} // namespace assay::latency
