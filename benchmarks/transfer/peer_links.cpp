// SPDX-License-Identifier: Apache-2.0

#include "transfer/peer_links.hpp"

#include "device/footprint.hpp"
#include "device/properties.hpp"
#include "transfer/copies.hpp"
#include "transfer/copy_kernels.hpp"

#include <assay/random.hpp>

#include <optional>

namespace assay::transfer {
namespace {

using device::check;

constexpr std::uint64_t seed_of(std::size_t device) { return 2000 + device; }
constexpr std::uint64_t spoil_seed = 39;

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

std::string name_of(std::size_t device) {
    cudaDeviceProp all{};
    check(cudaGetDeviceProperties(&all, static_cast<int>(device)));
    return all.name;
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

} // namespace

/// Made while it is the current one.
struct PeerLinks::Device {
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
struct PeerLinks::Link {
    std::optional<Access> there;
    std::optional<Access> back;
    device::EventClock clock;
    double seconds = 0;

    Link(const Plan& plan, const Device& from, const Device& to)
        : clock{from.stream, options(plan, to)} {
        if (plan.path == Path::host) return;
        there.emplace(from.number, to.number);
        if (plan.both_ways) back.emplace(to.number, from.number);
    }
    static device::EventClock::Options options(const Plan& plan, const Device& to) {
        device::EventClock::Options options{.operations = copies_as_operations};
        if (plan.both_ways) options.lane = &to.lane;
        return options;
    }
};

Fit PeerLinks::fits(const Plan& plan) {
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

PeerLinks::PeerLinks(const Plan& plan, const Context& context) : plan_{plan} {
    const std::size_t count = devices_there();
    for (std::size_t number = 0; number < count; ++number) {
        use(number);
        devices_.push_back(std::make_unique<Device>(number, plan.words, count));
    }
    pairs_ = pairs_of(reach_of(count), plan.path, plan.both_ways);
    for (const DevicePair& pair : pairs_) {
        use(pair.from);
        links_.push_back(std::make_unique<Link>(plan, *devices_[pair.from], *devices_[pair.to]));
    }
    use(0);
    context.setting("devices", count);
    context.setting("pairs", pairs_.size());
    context.setting("copies_of_a_pair", plan.copies);
    poison();
}

PeerLinks::~PeerLinks() {
    links_.clear();
    devices_.clear();
    cudaSetDevice(0);
}

void PeerLinks::copy(const Device& from, const Device& to, const device::Stream& stream) const {
    check(cudaMemcpyPeerAsync(to.slot(from.number), static_cast<int>(to.number), from.source.data(),
                              static_cast<int>(from.number), plan_.words * sizeof(std::uint64_t),
                              stream.get()));
}

void PeerLinks::run() {
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
        const Device& from = *devices_[pairs_[i].from];
        const Device& to = *devices_[pairs_[i].to];
        Link& link = *links_[i];
        use(from.number);
        const double seconds = link.clock.seconds(static_cast<std::uint64_t>(plan_.copies), [&] {
            copy(from, to, from.stream);
            if (plan_.both_ways) copy(to, from, to.lane.stream());
        });
        clock_.add(seconds);
        if (calls_ > 0) link.seconds += seconds;
    }
    use(0);
    ++calls_;
}

double PeerLinks::copies() const {
    return static_cast<double>(pairs_.size()) * plan_.copies * (plan_.both_ways ? 2 : 1);
}

/// visit(words that arrived, from, to) on the device that got them, for each that a call sends.
template <class Visit>
void PeerLinks::on_each_slot(Visit&& visit) const {
    for (const DevicePair& pair : pairs_) {
        use(pair.to);
        visit(devices_[pair.to]->slot(pair.from), *devices_[pair.from], *devices_[pair.to]);
        if (!plan_.both_ways) continue;
        use(pair.from);
        visit(devices_[pair.from]->slot(pair.to), *devices_[pair.to], *devices_[pair.from]);
    }
    use(0);
}

Check PeerLinks::verify() const {
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

void PeerLinks::poison() {
    for (const auto& device : devices_) {
        use(device->number);
        check(cudaMemsetAsync(device->arrived.data(), 0xff, device->arrived.bytes(),
                              device->stream.get()));
        device->stream.wait();
    }
    use(0);
}

/// One bit of one copy.
void PeerLinks::spoil() {
    const std::uint64_t pick = random_bits(spoil_seed, spoils_++);
    const DevicePair pair = pairs_[pick % pairs_.size()];
    const Device& to = *devices_[pair.to];
    use(pair.to);
    flip_bit(to.slot(pair.from), plan_.words, pick >> 8U, to.stream);
    use(0);
}

std::vector<double> PeerLinks::seconds_of_pairs() const {
    std::vector<double> seconds;
    if (calls_ < 2) return seconds;
    for (const auto& link : links_)
        seconds.push_back(link->seconds / static_cast<double>(calls_ - 1));
    return seconds;
}

Table PeerLinks::table(const char* metric, std::span<const double> values) const {
    std::vector<std::string> names;
    for (const auto& device : devices_) names.push_back(name_of(device->number));
    const std::vector<std::string> labels = device_labels(names);
    return {.metric = metric,
            .row_title = "from device",
            .column_title = "to device",
            .rows = labels,
            .columns = labels,
            .values = matrix_of(devices_.size(), pairs_, values, plan_.both_ways)};
}

} // namespace assay::transfer
