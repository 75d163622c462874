// SPDX-License-Identifier: Apache-2.0

#include "collective/nccl_group.hpp"

#include "collective/growth.hpp"
#include "collective/nccl_data.hpp"
#include "collective/nccl_error.hpp"
#include "device/footprint.hpp"
#include "device/properties.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace assay::collective {
namespace {

using device::check;

/// What NCCL itself takes on each device: channels, and with NVLink's switch about a gigabyte.
constexpr std::int64_t nccl_bytes = 2 * device::gibibyte;

/// Makes a device the current one: of streams, events, memory and launches.
void use(int device) { check(cudaSetDevice(device)); }

ncclDataType_t type_of(Element element) {
    switch (element) {
    case Element::fp64: return ncclFloat64;
    case Element::fp16: return ncclFloat16;
    // Older headers name it for nvcc alone.
    case Element::bf16: return static_cast<ncclDataType_t>(9);
#if NCCL_VERSION_CODE >= 22403
    case Element::fp8_e4m3: return ncclFloat8e4m3;
    case Element::fp8_e5m2: return ncclFloat8e5m2;
#endif
    default: return ncclFloat32;
    }
}

bool is_fp8(Element element) { return bytes_of(element) == 1; }

int ranks_of(Symbolic wanted, int devices) {
    return wanted.symbol == Symbol::none ? static_cast<int>(wanted.number) : devices;
}

int devices_there() {
    int count = 0;
    check(cudaGetDeviceCount(&count));
    return count;
}

int capability_of(int device) {
    int major = 0;
    int minor = 0;
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    return 10 * major + minor;
}

Fit fits_type(const NcclGroup::Plan& plan, int ranks) {
    if (plan.in_place && reduces(plan.kind) && bytes_of(plan.element) < 4)
        return Fit::no("not applicable: sums taken in place again and again leave the range of a "
                       "type this narrow");
    if (is_fp8(plan.element) && NCCL_VERSION_CODE < 22403)
        return Fit::no("not applicable: needs NCCL 2.24 or later for fp8");
    if (reduces(plan.kind) && largest_value(plan.element, ranks) == 0)
        return Fit::no("not applicable: no sum over " + std::to_string(ranks) +
                       " ranks is exact in this type, so it could not be checked");
    if (is_fp8(plan.element) && reduces(plan.kind))
        for (int device = 0; device < ranks; ++device)
            if (capability_of(device) < 90)
                return Fit::no("not applicable: sums in fp8 need compute capability 9.0");
    return Fit::yes();
}

std::int64_t bytes_on_device(const NcclGroup::Plan& plan, int ranks) {
    const auto count = count_of(plan.kind, plan.element, plan.bytes, ranks);
    const auto numbers = plan.in_place
                             ? held_in_place(plan.kind, count, ranks)
                             : sent(plan.kind, count, ranks) + received(plan.kind, count, ranks);
    return static_cast<std::int64_t>(numbers) * bytes_of(plan.element);
}


/// Memory of the current device, from CUDA or from NCCL.
class Memory {
public:
    Memory() = default;
    Memory(std::size_t bytes, Buffers buffers) : bytes_{bytes} {
        if (bytes == 0) return;
#if NCCL_VERSION_CODE >= 21903
        if (buffers == Buffers::registered) {
            is_nccl_ = true;
            collective::check(ncclMemAlloc(&data_, bytes));
            return;
        }
#endif
        static_cast<void>(buffers);
        check(cudaMalloc(&data_, bytes));
    }
    ~Memory() { release(); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    Memory(Memory&&) = delete;
    Memory& operator=(Memory&&) = delete;

    void* data() const { return data_; }
    std::size_t bytes() const { return bytes_; }

private:
    void release() {
        if (data_ == nullptr) return;
#if NCCL_VERSION_CODE >= 21903
        if (is_nccl_) {
            ncclMemFree(data_);
            return;
        }
#endif
        cudaFree(data_);
    }
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
    bool is_nccl_ = false;
};

/// A communicator's knowledge of a buffer.
class Registration {
public:
    Registration(ncclComm_t communicator, const Memory& memory) : communicator_{communicator} {
#if NCCL_VERSION_CODE >= 21903
        if (memory.data() != nullptr)
            collective::check(
                ncclCommRegister(communicator, memory.data(), memory.bytes(), &handle_));
#else
        static_cast<void>(memory);
#endif
    }
    ~Registration() {
#if NCCL_VERSION_CODE >= 21903
        if (handle_ != nullptr) ncclCommDeregister(communicator_, handle_);
#endif
    }
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;
    Registration(Registration&&) = delete;
    Registration& operator=(Registration&&) = delete;

private:
    ncclComm_t communicator_;
    void* handle_ = nullptr;
};

} // namespace

/// Made while it is the current one.
struct NcclGroup::Device {
    int rank; // and number of the device
    device::Stream stream;
    device::Event begin;
    device::Event end;
    Memory first;  // what is sent; in place, everything
    Memory second; // what is received
    void* send;
    void* receive;
    ncclComm_t communicator = nullptr;
    std::vector<std::unique_ptr<Registration>> registrations;

    Device(const Plan& plan, int rank_, int ranks, std::size_t count)
        : rank{rank_}, first{bytes(plan, plan.in_place ? held_in_place(plan.kind, count, ranks)
                                                       : sent(plan.kind, count, ranks)),
                             plan.buffers},
          second{bytes(plan, plan.in_place ? 0 : received(plan.kind, count, ranks)), plan.buffers},
          send{first.data()}, receive{plan.in_place ? first.data() : second.data()} {
        if (!plan.in_place) return;
        const std::size_t own = bytes(plan, own_part(plan.kind, count, rank));
        if (plan.kind == Kind::allgather) send = static_cast<char*>(send) + own;
        if (plan.kind == Kind::reduce_scatter) receive = static_cast<char*>(receive) + own;
    }
    static std::size_t bytes(const Plan& plan, std::size_t numbers) {
        return numbers * static_cast<std::size_t>(bytes_of(plan.element));
    }
};

Fit NcclGroup::fits(const Plan& plan) {
    if (const Fit one = device::fits_device(0); !one) return one;
    const int count = devices_there();
    if (count < 2) return Fit::no("not applicable: needs two devices, there is one");
    const int ranks = ranks_of(plan.ranks, count);
    if (ranks > count)
        return Fit::no("not applicable: needs " + std::to_string(ranks) + " devices, there are " +
                       std::to_string(count));
    if (plan.buffers == Buffers::registered && NCCL_VERSION_CODE < 21903)
        return Fit::no("not applicable: needs NCCL 2.19 or later for registered buffers");
    if (auto fit = fits_type(plan, ranks); !fit) return fit;
    const std::int64_t needed =
        bytes_on_device(plan, ranks) + nccl_bytes + device::reserve_bytes;
    Fit fit = Fit::yes();
    for (int number = 0; number < ranks && fit; ++number) {
        use(number);
        std::size_t available = 0;
        std::size_t total = 0;
        check(cudaMemGetInfo(&available, &total));
        fit = Fit::needs(needed <= static_cast<std::int64_t>(available),
                         std::to_string(needed) + " bytes of free memory on device " +
                             std::to_string(number) + ", there are " + std::to_string(available));
    }
    use(0);
    return fit;
}

NcclGroup::NcclGroup(const Plan& plan, const Context& context)
    : plan_{plan}, context_{context}, ranks_{ranks_of(plan.ranks, devices_there())},
      count_{count_of(plan.kind, plan.element, plan.bytes, ranks_)},
      largest_{largest_value(plan.element, reduces(plan.kind) ? ranks_ : 1)},
      most_calls_{plan.kind == Kind::allreduce
                      ? finite_calls<float>(ranks_, static_cast<double>(largest_ * ranks_))
                      : exact_scatters(plan.element, ranks_, largest_)} {
    for (int rank = 0; rank < ranks_; ++rank) {
        use(rank);
        devices_.push_back(std::make_unique<Device>(plan_, rank, ranks_, count_));
        fill(*devices_.back());
    }
    use(0);
    std::vector<ncclComm_t> communicators(devices_.size());
    collective::check(ncclCommInitAll(communicators.data(), ranks_, nullptr));
    for (std::size_t i = 0; i < devices_.size(); ++i)
        devices_[i]->communicator = communicators[i];
    if (plan_.buffers == Buffers::registered)
        for (const auto& device : devices_) {
            use(device->rank);
            for (const Memory* memory : {&device->first, &device->second})
                device->registrations.push_back(
                    std::make_unique<Registration>(device->communicator, *memory));
        }
    use(0);
    context_.setting("ranks", ranks_);
    context_.setting("processes", 1.0);
    context_.setting("message_bytes", bytes());
    poison();
    rewind();
}

NcclGroup::~NcclGroup() {
    for (const auto& device : devices_) {
        if (cudaSetDevice(device->rank) != cudaSuccess) continue;
        if (!failed_) device->registrations.clear();
    }
    for (const auto& device : devices_) {
        if (device->communicator == nullptr) continue;
        cudaSetDevice(device->rank);
        if (failed_) // destroying would wait for what never ends
            ncclCommAbort(device->communicator);
        else
            ncclCommDestroy(device->communicator);
    }
    for (auto& device : devices_) {
        cudaSetDevice(device->rank);
        if (failed_)
            for (auto& one : device->registrations) static_cast<void>(one.release());
        device.reset();
    }
    cudaSetDevice(0);
}

/// What the rank sends.
void NcclGroup::fill(const Device& device) const {
    fill_values(device.stream, device.send, plan_.element, sent(plan_.kind, count_, ranks_),
                device.rank, largest_);
}

/// Every device sends a block to each other and gets one from each; or to the next one.
void NcclGroup::rotate(const Device& device) const {
    const auto type = type_of(plan_.element);
    const std::size_t block = Device::bytes(plan_, count_);
    const auto* const from = static_cast<const char*>(device.send);
    auto* const to = static_cast<char*>(device.receive);
    if (plan_.kind == Kind::send_receive) {
        const int next = (device.rank + 1) % ranks_;
        const int before = (device.rank + ranks_ - 1) % ranks_;
        collective::check(
            ncclSend(from, count_, type, next, device.communicator, device.stream.get()));
        collective::check(
            ncclRecv(to, count_, type, before, device.communicator, device.stream.get()));
        return;
    }
    for (int peer = 0; peer < ranks_; ++peer) {
        const std::size_t at = static_cast<std::size_t>(peer) * block;
        collective::check(
            ncclSend(from + at, count_, type, peer, device.communicator, device.stream.get()));
        collective::check(
            ncclRecv(to + at, count_, type, peer, device.communicator, device.stream.get()));
    }
}

void NcclGroup::call(const Device& d) const {
    const auto type = type_of(plan_.element);
    switch (plan_.kind) {
    case Kind::allreduce:
        return collective::check(ncclAllReduce(d.send, d.receive, count_, type, ncclSum,
                                               d.communicator, d.stream.get()));
    case Kind::reduce_scatter:
        return collective::check(ncclReduceScatter(d.send, d.receive, count_, type, ncclSum,
                                                   d.communicator, d.stream.get()));
    case Kind::allgather:
        return collective::check(
            ncclAllGather(d.send, d.receive, count_, type, d.communicator, d.stream.get()));
    case Kind::broadcast:
        return collective::check(
            ncclBroadcast(d.send, d.receive, count_, type, 0, d.communicator, d.stream.get()));
    default: return rotate(d);
    }
}

void NcclGroup::queue() {
    collective::check(ncclGroupStart());
    try {
        for (const auto& device : devices_) call(*device);
    } catch (...) {
        ncclGroupEnd();
        throw;
    }
    collective::check(ncclGroupEnd());
}

void NcclGroup::run() {
    // Only in batches of tiny messages: inputs made again every dozens of calls.
    if (plan_.in_place && reduces(plan_.kind) && calls_ == most_calls_) refill();
    try {
        queue();
    } catch (...) {
        failed_ = true;
        throw;
    }
    ++calls_;
}

void NcclGroup::begin() {
    for (const auto& device : devices_) {
        use(device->rank);
        device->begin.record(device->stream);
    }
    use(0);
}

/// Waits, looking for what went wrong in the network, of which a stream knows nothing.
void NcclGroup::wait_for(const Device& device) const {
    for (;;) {
        const cudaError_t status = cudaEventQuery(device.end.get());
        if (status == cudaSuccess) return;
        if (status != cudaErrorNotReady) check(status);
        cudaGetLastError(); // not ready is no error
        ncclResult_t late = ncclSuccess;
        collective::check(ncclCommGetAsyncError(device.communicator, &late));
        if (late != ncclSuccess && late != ncclInProgress) collective::check(late);
    }
}

double NcclGroup::end() {
    double slowest = 0;
    try {
        for (const auto& device : devices_) {
            use(device->rank);
            device->end.record(device->stream);
        }
        for (const auto& device : devices_) {
            use(device->rank);
            wait_for(*device);
            slowest = std::max(slowest, device->end.seconds_since(device->begin));
        }
        use(0);
    } catch (...) {
        failed_ = true;
        throw;
    }
    if (!seen_) seen_ = read_nccl_log(log_.text());
    log_.forget();
    return slowest;
}

double NcclGroup::bytes() const {
    const auto blocks = divided(plan_.kind) ? static_cast<double>(ranks_) : 1.0;
    return static_cast<double>(Device::bytes(plan_, count_)) * blocks;
}

Expected NcclGroup::expected(int rank) const {
    const std::uint64_t calls = plan_.in_place ? std::max<std::uint64_t>(calls_, 1) : 1;
    return {.kind = plan_.kind,
            .rank = rank,
            .ranks = ranks_,
            .count = count_,
            .largest = largest_,
            .growth = plan_.kind == Kind::allreduce ? growth(ranks_, calls) : 1,
            .times = static_cast<double>(calls)};
}

double NcclGroup::bound() const {
    if (plan_.kind != Kind::allreduce || !plan_.in_place) return 0;
    const auto calls = std::max<std::uint64_t>(calls_, 1);
    const auto largest = static_cast<double>(largest_ * ranks_);
    return plan_.element == Element::fp64 ? growth_bound<double>(ranks_, calls, largest)
                                          : growth_bound<float>(ranks_, calls, largest);
}

Check NcclGroup::verify() const {
    Check first{.passed = true};
    bool any = false;
    for (const auto& device : devices_) {
        use(device->rank);
        Check check = check_values(device->stream, device->receive, plan_.element,
                                   received(plan_.kind, count_, ranks_), expected(device->rank),
                                   bound());
        if (!check.passed)
            check.detail = "device " + std::to_string(device->rank) + ": " + check.detail;
        if (!any || (first.passed && !check.passed)) first = std::move(check);
        any = true;
    }
    use(0);
    return prove(std::move(first));
}

Check NcclGroup::prove(Check check) const {
    if (!seen_) return check; // nothing was called yet
    const std::string path = path_of(*seen_);
    const std::string missing = unproved(plan_.way, *seen_);
    if (!path.empty()) context_.setting("path", path);
    if (!missing.empty()) context_.setting("path_not_proved", missing);
    if (!seen_->link.empty()) context_.setting("link", seen_->link);
    if (!seen_->algorithm.empty()) context_.setting("nccl.algorithm", seen_->algorithm);
    if (!seen_->protocol.empty()) context_.setting("nccl.protocol", seen_->protocol);
    if (seen_->channels > 0) context_.setting("nccl.channels", seen_->channels);
    const std::string wrong = contradiction(plan_.way, *seen_);
    if (wrong.empty() || !check.passed) return check;
    check.passed = false;
    check.detail = "the path is not the one asked for: " + wrong;
    return check;
}

void NcclGroup::poison() {
    for (const auto& device : devices_) {
        use(device->rank);
        const std::size_t bytes = Device::bytes(plan_, received(plan_.kind, count_, ranks_));
        check(cudaMemsetAsync(device->receive, 0xff, bytes, device->stream.get())); // no numbers
        device->stream.wait();
    }
    use(0);
}

/// One element of the last device, by one unit of what it is a multiple of.
void NcclGroup::spoil() {
    const Device& device = *devices_.back();
    use(device.rank);
    spoil_value(device.stream, device.receive, plan_.element,
                received(plan_.kind, count_, ranks_) / 2, expected(device.rank).growth);
    use(0);
}

void NcclGroup::refill() {
    for (const auto& device : devices_) {
        use(device->rank);
        fill(*device);
    }
    use(0);
    calls_ = 0;
}

void NcclGroup::rewind() {
    calls_ = 0;
    if (!plan_.in_place) return;
    refill();
    for (const auto& device : devices_) device->stream.wait();
}

} // namespace assay::collective
