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
    "peer (one device reaches into the memory of the other), or host (through the host's memory)";

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
        .question = "How fast does data get from every device to every other?",
        .method =
            "cudaMemcpyPeerAsync of random 64-bit words from each device to each other, one pair "
            "after the other while "
            "the rest is idle, queued on the device that sends and timed by its clock (events), "
            "launches hidden. "
            "both_ways: copies in both directions that start together, until both are done; their "
            "sum counts. path=peer has access between the devices enabled, and has cells where the "
            "driver offers it "
            "(cudaDeviceCanAccessPeer); path=host leaves it disabled, so that the driver goes "
            "through the host's memory. The matrix holds each pair over all calls but the first. "
            "Every word that "
            "arrived is compared with the one made again from the random seed, on the device that "
            "got it.",
        .caveats =
            "The headline counts all bytes by the time of all pairs, so that slow pairs weigh "
            "more. Pairs are measured one by one: links that many use at once (PCIe switches, the "
            "way "
            "through the host) are shared. Which link a copy took, NVLink or PCIe, the driver does "
            "not say.",
        .headline = "bandwidth",
        .place = "cuda",
    };
    static constexpr std::tuple axes{
        choice("direction", "one_way, or both_ways at once (the sum of both)", &Params::direction,
               {Name{"one_way", Ways::one_way}, Name{"both_ways", Ways::both_ways}},
               {Ways::one_way, Ways::both_ways}),
        choice("path", path_help, &Params::path,
               {Name{"peer", Path::peer}, Name{"host", Path::host}}, {Path::peer, Path::host}),
        integer("bytes", "of each copy", "B", &Params::bytes, {64_MiB}, {4_KiB, 4_GiB}),
    };
    static constexpr bool all_devices = true;

    static Fit fit(const Params& p, const Machine& /*m*/) { return PeerLinks::fits(plan(p)); }
    Peer(const Params& p, const Context& context) : plan_{plan(p)}, links_{plan_, context} {
        context.setting("bytes", bytes());
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
        .question = "How long does a copy of a few bytes take from every device to every other?",
        .method = "cudaMemcpyPeerAsync of 16 random bytes, 50 of them queued behind each other on "
                  "the device that sends and timed "
                  "by its clock (events), launches hidden; one pair after the other. Paths as for "
                  "transfer.peer. The matrix "
                  "holds each pair over all calls but the first. Every byte that arrived is "
                  "compared with "
                  "the one made again from the random seed.",
        .caveats =
            "The time from one copy to the next, which is more than a single load or store over "
            "the link takes: the engine that copies starts anew each time. The headline is the "
            "mean of all pairs.",
        .headline = "latency",
        .place = "cuda",
    };
    static constexpr std::tuple axes{
        choice("path", path_help, &Params::path,
               {Name{"peer", Path::peer}, Name{"host", Path::host}}, {Path::peer, Path::host}),
    };
    static constexpr bool all_devices = true;

    static Fit fit(const Params& p, const Machine& /*m*/) { return PeerLinks::fits(plan(p)); }
    PeerLatency(const Params& p, const Context& context) : links_{plan(p), context} {
        context.setting("bytes", static_cast<double>(vector_bytes));
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

extern constinit const assay_benchmark peer;
constinit const assay_benchmark peer = define<Peer>();
extern constinit const assay_benchmark peer_latency;
constinit const assay_benchmark peer_latency = define<PeerLatency>();

} // namespace assay::transfer
