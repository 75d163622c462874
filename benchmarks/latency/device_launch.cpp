// SPDX-License-Identifier: Apache-2.0
//
// What it costs to start work on a device: one kernel, or a graph of many.

#include "device/clock.hpp"
#include "device/graph.hpp"
#include "device/properties.hpp"
#include "latency/launch_count.hpp"

#include <assay/define.hpp>

#include <tuple>

namespace assay::latency {
namespace {

using device::EventClock;
using device::Interval;

class KernelLaunch {
public:
    struct Params {
        Interval interval = Interval::completion;
    };
    static constexpr Info info{
        .id = "latency.kernel",
        .question = "How long does it take to launch a kernel that does nothing?",
        .method = "Kernels of one thread that only count themselves, on a stream of its own. "
                  "completion: the host's clock from the launch until cudaStreamSynchronize "
                  "returns. queue: the "
                  "host's clock for the launch alone, while the stream is held by a kernel that "
                  "waits, so "
                  "that the queue is never empty and never full. device: the device's clock "
                  "(events) from one "
                  "kernel to the next that waits for it, launches hidden. Checked after every "
                  "batch: the counter on the "
                  "device.",
        .caveats =
            "completion is what a program waits for an answer, device what a stream of dependent "
            "kernels takes if the host is fast enough, queue the most that one thread can launch. "
            "One "
            "addition to a counter is in the time of the device. Tools that trace (profilers) make "
            "all of them longer.",
        .headline = "latency",
        .place = "cuda",
    };
    static constexpr std::tuple axes{
        choice("interval", device::interval_help, &Params::interval, device::interval_names,
               device::every_interval),
    };
    static constexpr std::uint64_t safe_calls = 1U << 30U;

    static Fit fit(const Params& /*p*/, const Machine& /*m*/) { return device::fits_device(0); }
    KernelLaunch(const Params& p, const Context& context)
        : clock_{stream_, {.interval = p.interval}}, count_{stream_} {
        context.setting("threads_launched", 1);
    }
    EventClock& clock() { return clock_; }
    void run() {
        count_.queue();
        count_.launched(1);
    }
    Work work() const { return {.steps = 1}; }
    Check verify() const { return count_.verify(); }
    void poison() { count_.poison(); }
    void spoil() { count_.spoil(); }
    void rewind() { count_.restart(); }

private:
    device::Stream stream_;
    EventClock clock_;
    LaunchCount count_;
};

class GraphLaunch {
public:
    struct Params {
        std::int64_t nodes = 1;
        Interval interval = Interval::completion;
    };
    static constexpr Info info{
        .id = "latency.graph",
        .question = "How long does it take to launch a graph of kernels, for each of its nodes?",
        .method =
            "A graph of kernels of one thread, each waiting for the one before, captured from a "
            "stream, "
            "instantiated and uploaded beforehand; launched by cudaGraphLaunch. The time of a call "
            "is that of "
            "one launch, the latency that of one node. completion: the host's clock from the "
            "launch until cudaStreamSynchronize returns. queue: the host's clock for the launch "
            "alone, while the stream is held. device: the device's clock (events), from one launch "
            "to "
            "the next, launches hidden. Checked after every batch: every node adds one to a "
            "counter on the device.",
        .caveats = "Compare the latency with that of latency.kernel: what a node costs instead of "
                   "a launch. "
                   "Making the graph is not in it.",
        .headline = "latency",
        .place = "cuda",
    };
    static constexpr std::tuple axes{
        integer("nodes", "kernels in the graph, one after another", "", &Params::nodes, {1, 32},
                {1, 4096}),
        choice("interval", device::interval_help, &Params::interval, device::interval_names,
               device::every_interval),
    };
    static constexpr std::uint64_t safe_calls = 1U << 30U;

    static Fit fit(const Params& /*p*/, const Machine& /*m*/) { return device::fits_device(0); }
    GraphLaunch(const Params& p, const Context& context)
        : nodes_{p.nodes},
          clock_{stream_, {.interval = p.interval, .operations = operations(p.nodes)}},
          count_{stream_}, graph_{stream_, [this] { capture(); }} {
        context.setting("nodes", static_cast<double>(nodes_));
    }
    EventClock& clock() { return clock_; }
    void run() {
        graph_.launch(stream_);
        count_.launched(static_cast<std::uint64_t>(nodes_));
    }
    Work work() const { return {.steps = static_cast<double>(nodes_)}; }
    Check verify() const { return count_.verify(); }
    void poison() { count_.poison(); }
    void spoil() { count_.spoil(); }
    void rewind() { count_.restart(); }

private:
    /// Of a launch that is queued: what surrounds the nodes is unknown and counted as four.
    static constexpr int operations(std::int64_t nodes) { return static_cast<int>(nodes) + 4; }
    void capture() const {
        for (std::int64_t node = 0; node < nodes_; ++node) count_.queue();
    }

    std::int64_t nodes_;
    device::Stream stream_;
    EventClock clock_;
    LaunchCount count_;
    device::Graph graph_;
};

} // namespace

extern constinit const assay_benchmark kernel_launch;
constinit const assay_benchmark kernel_launch = define<KernelLaunch>();
extern constinit const assay_benchmark graph_launch;
constinit const assay_benchmark graph_launch = define<GraphLaunch>();

} // namespace assay::latency
