// SPDX-License-Identifier: Apache-2.0

#include "transfer/copies.hpp"
#include "transfer/peer_links.hpp"

#include <assay/define.hpp>
#include <assay/units.hpp>

#include <tuple>
#include <vector>

namespace assay::transfer {
namespace {

using namespace units;

constexpr const char* path_help =
    "peer (direct access between the devices), or host (staged through host memory)";

class Peer {
public:
    enum class Ways : std::uint8_t { one_way, both_ways };
    struct Params {
        Ways direction = Ways::one_way;
        Path path = Path::peer;
        std::int64_t bytes = 0;
    };
    static constexpr Info info{
        .id = "transfer.peer",
        .question = "How fast is data copied between every two devices?",
        .method =
            "cudaMemcpyPeerAsync of random 64-bit words between every pair of devices, one pair at "
            "a time, queued on the sender and timed with CUDA events, launch overhead excluded. "
            "both_ways: both directions start together, until both are done; the sum counts. "
            "path=peer enables peer access and covers pairs for which the driver offers it "
            "(cudaDeviceCanAccessPeer); path=host disables it, so that the driver stages through "
            "host memory. The matrix holds each pair over all calls but the first. Every word is "
            "compared on the receiver with its recomputation from the random seed.",
        .caveats =
            "The primary metric is all bytes by the time of all pairs, so slow pairs weigh more. "
            "One pair runs at a time: shared links (PCIe switches, the path through the host) do "
            "not show. The driver does not say whether a copy used NVLink or PCIe.",
        .headline = "bandwidth",
        .place = "cuda",
        .trial_bytes = 64_KiB,
        .bound = Bound::device_links,
    };
    static constexpr std::tuple axes{
        choice("direction", "one_way, or both_ways at once (the sum of both)", &Params::direction,
               {{"one_way", Ways::one_way}, {"both_ways", Ways::both_ways}}),
        choice("path", path_help, &Params::path, {{"peer", Path::peer}, {"host", Path::host}}),
        integer("bytes", "of each copy", "B", &Params::bytes, {64_MiB}, {4_KiB, 4_GiB}),
    };
    static constexpr bool all_devices = true;

    static Fit fit(const Params& p, const Machine& /*m*/) { return PeerLinks::fits(plan(p)); }
    Peer(const Params& p, const Context& context) : plan_{plan(p)}, links_{plan_, context} {
        context.setting("bytes", bytes());
        context.tell({.links = p.path == Path::host ? Links::host : Links::peer,
                      .directions = plan_.both_ways ? 2 : 1});
    }
    MatrixClock& clock() { return links_.clock(); }
    void run() { links_.run(); }
    Work work() const { return {.bytes = links_.copies() * bytes()}; }
    Check verify() const { return links_.verify(); }
    void poison() { links_.poison(); }
    void spoil() { links_.spoil(); }
    void metrics(const Metrics& metrics) const {
        std::vector<double> rates = links_.seconds_of_pairs();
        if (rates.empty()) return;
        const double of_pair = bytes() * plan_.copies * (plan_.both_ways ? 2 : 1);
        for (double& value : rates) value = of_pair / value;
        metrics.add(links_.table("bandwidth", rates));
    }

private:
    static PeerLinks::Plan plan(const Params& p) {
        return {.path = p.path,
                .both_ways = p.direction == Ways::both_ways,
                .words = words_in(p.bytes),
                .copies = copies_of_pair(p.path)};
    }
    double bytes() const { return static_cast<double>(plan_.words * sizeof(std::uint64_t)); }

    PeerLinks::Plan plan_;
    PeerLinks links_;
};

class PeerLatency {
public:
    struct Params {
        Path path = Path::peer;
    };
    static constexpr Info info{
        .id = "latency.peer",
        .question = "How long does a copy of a few bytes between two devices take?",
        .method = "50 cudaMemcpyPeerAsync of 16 random bytes queued on the sender, timed with CUDA "
                  "events, launch overhead excluded; one pair at a time. Paths as in "
                  "transfer.peer. The matrix holds each pair over all calls but the first. Every "
                  "byte is compared with its recomputation from the random seed.",
        .caveats =
            "The time from one copy to the next, longer than a single load or store over the link: "
            "the copy engine starts anew each time. The primary metric is the mean of all pairs.",
        .headline = "latency",
        .place = "cuda",
    };
    static constexpr std::tuple axes{
        choice("path", path_help, &Params::path, {{"peer", Path::peer}, {"host", Path::host}}),
    };
    static constexpr bool all_devices = true;

    static Fit fit(const Params& p, const Machine& /*m*/) { return PeerLinks::fits(plan(p)); }
    PeerLatency(const Params& p, const Context& context) : links_{plan(p), context} {
        context.setting("bytes", vector_bytes);
    }
    MatrixClock& clock() { return links_.clock(); }
    void run() { links_.run(); }
    Work work() const { return {.steps = links_.copies()}; }
    Check verify() const { return links_.verify(); }
    void poison() { links_.poison(); }
    void spoil() { links_.spoil(); }
    void metrics(const Metrics& metrics) const {
        std::vector<double> latencies = links_.seconds_of_pairs();
        if (latencies.empty()) return;
        for (double& value : latencies) value /= small_copies_of_pair;
        metrics.add(links_.table("latency", latencies));
    }

private:
    static PeerLinks::Plan plan(const Params& p) {
        return {.path = p.path, .words = vector_words, .copies = small_copies_of_pair};
    }
    PeerLinks links_;
};

} // namespace

extern constinit const assay_benchmark peer = define<Peer>();
extern constinit const assay_benchmark peer_latency = define<PeerLatency>();

} // namespace assay::transfer
