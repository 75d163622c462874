// SPDX-License-Identifier: Apache-2.0
//
// What it costs to start work on a device: one kernel, or a graph of many.

#include "device/graph.hpp"
#include "device/place.hpp"
#include "device/properties.hpp"
#include "latency/launch_count.hpp"

#include <assay/define.hpp>

#include <tuple>

namespace assay::latency {
namespace {

using device::EventClock;
using device::Interval;

class KernelLaunch : public device::OnDevice {
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
            "CUDA events, launch overhead excluded. Checked after every batch: the counter.",
        .caveats =
            "completion is what a program waits for a result, device what a stream of dependent "
            "kernels takes if the host keeps up, queue the launch rate of one thread. Device time "
            "includes one addition to a counter. Tracing tools (profilers) lengthen all of them.",
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
        : OnDevice{{.interval = p.interval}}, count_{stream_} {
        context.setting("threads_launched", 1);
    }
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
    LaunchCount count_;
};

class GraphLaunch : public device::OnDevice {
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
                  "device: time from one launch to the next by CUDA events, launch overhead "
                  "excluded. Checked after every batch: every node increments a counter.",
        .caveats = "Compare with latency.kernel: what a node costs instead of a launch. Making the "
                   "graph is not timed.",
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
        : OnDevice{{.interval = p.interval, .operations = operations(p.nodes)}}, nodes_{p.nodes},
          count_{stream_}, graph_{stream_, [this] { capture(); }} {
        context.setting("nodes", nodes_);
    }
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
    LaunchCount count_;
    device::Graph graph_;
};

} // namespace

extern constinit const assay_benchmark kernel_launch = define<KernelLaunch>();
extern constinit const assay_benchmark graph_launch = define<GraphLaunch>();

} // namespace assay::latency
