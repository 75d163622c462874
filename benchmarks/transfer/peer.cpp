// SPDX-License-Identifier: Apache-2.0

#include "device/clock.hpp"
#include "device/footprint.hpp"
#include "device/properties.hpp"
#include "transfer/copies.hpp"
#include "transfer/copy_kernels.hpp"
#include "transfer/peers.hpp"

#include <assay/define.hpp>

#include <functional>
#include <optional>

namespace assay::transfer {
namespace {

using device::check;

constexpr std::uint64_t seed_of(std::size_t device) { return 2000 + device; }

/// Makes a device the current one: of streams, events, memory and launches.
void use(std::size_t device) { check(cudaSetDevice(static_cast<int>(device))); }

std::size_t devices_there() {
    int count = 0;
    check(cudaGetDeviceCount(&count));
    return static_cast<std::size_t>(count);
}

Reach reach_of(std::size_t count) {
    Reach reach{.count = count, .reaches = std::vector<bool>(count * count)};
    for (std::size_t from = 0; from < count; ++from)
        for (std::size_t to = 0; to < count; ++to) {
            int can = 0;
            if (from != to)
                check(cudaDeviceCanAccessPeer(&can, static_cast<int>(from), static_cast<int>(to)));
            reach.reaches[from * count + to] = can != 0;
        }
    return reach;
}

/// Device `from` may reach into the memory of `to` while this exists: by default every copy goes through the
/// host.
class Access {
public:
    Access(std::size_t from, std::size_t to) : from_{from}, to_{to} {
        use(from);
        const cudaError_t status = cudaDeviceEnablePeerAccess(static_cast<int>(to), 0);
        is_ours_ = status != cudaErrorPeerAccessAlreadyEnabled;
        if (is_ours_)
            check(status);
        else
            cudaGetLastError(); // or a later call would find this error
    }
    ~Access() {
        if (is_ours_ && cudaSetDevice(static_cast<int>(from_)) == cudaSuccess)
            cudaDeviceDisablePeerAccess(static_cast<int>(to_));
    }
    Access(const Access&) = delete;
    Access(Access&&) = delete;
    Access& operator=(const Access&) = delete;
    Access& operator=(Access&&) = delete;

private:
    std::size_t from_;
    std::size_t to_;
    bool is_ours_ = false;
};

/// A plan of transfer.peer or latency.peer.
struct Plan {
    Path path = Path::peer;
    bool both_ways = false;
    std::size_t words = 0; ///< of a copy
    int copies = 1;        ///< of a pair in a call
};

/// Made while it is the current one.
struct Device {
    std::size_t number;
    std::size_t words;
    device::Stream stream;
    device::Lane lane; // for what comes back
    device::Buffer<std::uint64_t> source;
    device::Buffer<std::uint64_t> arrived; // a slot for each device that sends

    Device(std::size_t number_, std::size_t words_, std::size_t devices)
        : number{number_}, words{words_}, source{words_}, arrived{words_ * devices} {
        make_words(source.data(), words, seed_of(number), stream);
    }
    std::uint64_t* slot(std::size_t from) const { return arrived.data() + from * words; }
};

/// A pair and its clock, which belongs to the device that sends first.
struct Link {
    std::optional<Access> there;
    std::optional<Access> back;
    device::EventClock clock;
    double seconds = 0;

    Link(const Plan& plan, const Device& from, const Device& to)
        : clock{from.stream,
                {.operations = copies_as_operations, .lane = plan.both_ways ? &to.lane : nullptr}} {
        if (plan.path == Path::host) return;
        there.emplace(from.number, to.number);
        if (plan.both_ways) back.emplace(to.number, from.number);
    }
};

/// Copies between all pairs of devices, one pair after the other, each timed by the clock of the device that sends:
/// what transfer.peer and latency.peer share.
class PeerLinks {
public:
    static constexpr bool all_devices = true;

    PeerLinks(const PeerLinks&) = delete;
    PeerLinks(PeerLinks&&) = delete;
    PeerLinks& operator=(const PeerLinks&) = delete;
    PeerLinks& operator=(PeerLinks&&) = delete;
    ~PeerLinks() {
        links_.clear();
        devices_.clear();
        cudaSetDevice(0);
    }

    // The clock: seconds by the devices' clocks, over all pairs.
    static constexpr double resolution = device::EventClock::resolution;
    PeerLinks& clock() { return *this; }
    double seconds(std::uint64_t calls, const std::function<void()>& run) {
        total_ = 0;
        for (std::uint64_t i = 0; i < calls; ++i) run();
        return total_;
    }
    static void describe(const Context& context) { device::mark(context); }

    /// All pairs.
    void run() {
        for (std::size_t i = 0; i < pairs_.size(); ++i) {
            const Device& from = *devices_[pairs_[i].from];
            const Device& to = *devices_[pairs_[i].to];
            Link& link = *links_[i];
            use(from.number);
            const double seconds =
                link.clock.seconds(static_cast<std::uint64_t>(plan_.copies), [&] {
                    copy(from, to, from.stream);
                    if (plan_.both_ways) copy(to, from, to.lane.stream());
                });
            total_ += seconds;
            if (calls_ > 0) link.seconds += seconds;
        }
        use(0);
        ++calls_;
    }
    Check verify() const {
        Check first{.passed = true};
        on_each_slot([&](std::uint64_t* words, const Device& from, const Device& to) {
            Check check = check_words(words, plan_.words, seed_of(from.number), to.stream);
            if (!check.passed)
                check.detail =
                    joined("from device ", from.number, " to ", to.number, ": ", check.detail);
            if (first.passed) first = std::move(check);
        });
        return first;
    }
    void poison() {
        for (const auto& device : devices_) {
            use(device->number);
            device::set_bytes(device->arrived, 0xff, device->stream);
        }
        use(0);
    }
    /// One bit of one copy.
    void spoil() {
        const std::uint64_t pick = spoils_.next();
        const DevicePair pair = pairs_[pick % pairs_.size()];
        const Device& to = *devices_[pair.to];
        use(pair.to);
        device::flip_bit(to.slot(pair.from), plan_.words, pick, to.stream);
        use(0);
    }

protected:
    /// Are there two devices, is the way there, and is there room?
    static Fit fits(const Plan& plan) {
        if (const Fit one = device::fits_device(0); !one) return one;
        const std::size_t count = devices_there();
        if (count < 2) return Fit::no("not applicable: needs two devices, there is one");
        if (pairs_of(reach_of(count), plan.path, plan.both_ways).empty())
            return Fit::no("not applicable: no device here reaches the memory of another");
        const std::size_t bytes = plan.words * sizeof(std::uint64_t) * (count + 1);
        for (std::size_t device = 0; device < count; ++device) {
            use(device);
            std::size_t available = 0;
            std::size_t total = 0;
            check(cudaMemGetInfo(&available, &total));
            if (bytes + device::reserve_bytes > available) {
                use(0);
                return Fit::no("needs ", bytes, " bytes of free memory on device ", device,
                               ", there are ", available);
            }
        }
        use(0);
        return Fit::yes();
    }
    PeerLinks(const Plan& plan, const Context& context) : plan_{plan} {
        const std::size_t count = devices_there();
        for (std::size_t number = 0; number < count; ++number) {
            use(number);
            devices_.push_back(std::make_unique<Device>(number, plan.words, count));
        }
        pairs_ = pairs_of(reach_of(count), plan.path, plan.both_ways);
        for (const DevicePair& pair : pairs_) {
            use(pair.from);
            links_.push_back(
                std::make_unique<Link>(plan, *devices_[pair.from], *devices_[pair.to]));
        }
        use(0);
        context.setting("devices", count);
        context.setting("pairs", pairs_.size());
        context.setting("copies_of_a_pair", plan.copies);
        poison();
    }
    /// Copies of one call over all pairs, counting both directions.
    double copies() const {
        return static_cast<double>(pairs_.size()) * plan_.copies * (plan_.both_ways ? 2 : 1);
    }
    /// The mean seconds of a pair's part of a call; empty before the second call. The first one has
    /// nothing hidden and opens the ways.
    std::vector<double> seconds_of_pairs() const {
        std::vector<double> seconds;
        if (calls_ < 2) return seconds;
        for (const auto& link : links_)
            seconds.push_back(link->seconds / static_cast<double>(calls_ - 1));
        return seconds;
    }
    Table table(const char* metric, std::span<const double> values) const {
        std::vector<std::string> names;
        for (const auto& device : devices_) {
            cudaDeviceProp all{};
            check(cudaGetDeviceProperties(&all, static_cast<int>(device->number)));
            names.emplace_back(all.name);
        }
        const std::vector<std::string> labels = device_labels(names);
        return {.metric = metric,
                .row_title = "from device",
                .column_title = "to device",
                .rows = labels,
                .columns = labels,
                .values = matrix_of(devices_.size(), pairs_, values, plan_.both_ways)};
    }
    const Plan& plan() const { return plan_; }

private:
    void copy(const Device& from, const Device& to, const device::Stream& stream) const {
        check(cudaMemcpyPeerAsync(to.slot(from.number), static_cast<int>(to.number),
                                  from.source.data(), static_cast<int>(from.number),
                                  plan_.words * sizeof(std::uint64_t), stream.get()));
    }
    /// visit(words that arrived, from, to) on the device that got them, for each that a call sends.
    template <class Visit>
    void on_each_slot(Visit&& visit) const {
        for (const DevicePair& pair : pairs_) {
            use(pair.to);
            visit(devices_[pair.to]->slot(pair.from), *devices_[pair.from], *devices_[pair.to]);
            if (!plan_.both_ways) continue;
            use(pair.from);
            visit(devices_[pair.from]->slot(pair.to), *devices_[pair.to], *devices_[pair.from]);
        }
        use(0);
    }

    Plan plan_;
    std::vector<std::unique_ptr<Device>> devices_;
    std::vector<DevicePair> pairs_;
    std::vector<std::unique_ptr<Link>> links_; // of the pairs
    double total_ = 0;                         // seconds of the calls that are timed
    std::uint64_t calls_ = 0;
    Picks spoils_{39};
};

template <class Params>
consteval auto path_axis(Path Params::* field) {
    return choice("path",
                  "peer (direct access between the devices), or host (staged through host memory)",
                  field, {{"peer", Path::peer}, {"host", Path::host}});
}

class Peer : public PeerLinks {
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
            "a time, queued on the sender and timed with device events, launch overhead excluded. "
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
        .place = device::place_kind,
        .trial_bytes = 64_KiB,
        .bound = Bound::device_links,
        .noise = Noise::memory,
    };
    static constexpr std::tuple axes{
        choice("direction", "one_way, or both_ways at once (the sum of both)", &Params::direction,
               {{"one_way", Ways::one_way}, {"both_ways", Ways::both_ways}}),
        path_axis(&Params::path),
        integer("bytes", "size of a copy", "B", &Params::bytes, {64_MiB}, {4_KiB, 4_GiB}),
    };

    static Fit fit(const Params& p, const Machine& /*m*/) { return fits(plan_of(p)); }
    Peer(const Params& p, const Context& context) : PeerLinks{plan_of(p), context} {
        context.setting("bytes", bytes());
        context.tell({.links = p.path == Path::host ? Links::host : Links::peer,
                      .directions = plan().both_ways ? 2 : 1});
    }
    Work work() const { return {.bytes = copies() * bytes()}; }
    void metrics(const Metrics& metrics) const {
        std::vector<double> rates = seconds_of_pairs();
        if (rates.empty()) return;
        const double of_pair = bytes() * plan().copies * (plan().both_ways ? 2 : 1);
        for (double& value : rates) value = of_pair / value;
        metrics.add(table("bandwidth", rates));
    }

private:
    static Plan plan_of(const Params& p) {
        return {.path = p.path,
                .both_ways = p.direction == Ways::both_ways,
                .words = words_in(p.bytes),
                .copies = copies_of_pair(p.path)};
    }
    double bytes() const { return static_cast<double>(plan().words * sizeof(std::uint64_t)); }
};

class PeerLatency : public PeerLinks {
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
        .place = device::place_kind,
        .noise = Noise::memory,
    };
    static constexpr std::tuple axes{
        path_axis(&Params::path),
    };

    static Fit fit(const Params& p, const Machine& /*m*/) { return fits(plan_of(p)); }
    PeerLatency(const Params& p, const Context& context) : PeerLinks{plan_of(p), context} {
        context.setting("bytes", vector_bytes);
    }
    Work work() const { return {.steps = copies()}; }
    void metrics(const Metrics& metrics) const {
        std::vector<double> latencies = seconds_of_pairs();
        if (latencies.empty()) return;
        for (double& value : latencies) value /= small_copies_of_pair;
        metrics.add(table("latency", latencies));
    }

private:
    static Plan plan_of(const Params& p) {
        return {.path = p.path, .words = vector_words, .copies = small_copies_of_pair};
    }
};

} // namespace

extern constinit const assay_benchmark peer = define<Peer>();
extern constinit const assay_benchmark peer_latency = define<PeerLatency>();

} // namespace assay::transfer
