// SPDX-License-Identifier: Apache-2.0

#include "collective/nccl_group.hpp"

#include "collective/growth.hpp"
#include "collective/nccl_data.hpp"
#include "collective/nccl_device.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace assay::collective {
namespace {

using device::check;

} // namespace

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
    for (std::size_t i = 0; i < devices_.size(); ++i) devices_[i]->communicator = communicators[i];
    if (plan_.buffers == Allocation::registered)
        for (const auto& device : devices_) {
            use(device->rank);
            for (const Memory* memory : {&device->first, &device->second})
                device->registrations.push_back(
                    std::make_unique<Registration>(device->communicator, *memory));
        }
    use(0);
    context_.setting("ranks", ranks_);
    context_.setting("machines", 1);
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
    default:
        return rotate(d);
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

/// Waits for all devices in turns, because one that fails leaves the others waiting for ever; and looks for
/// what went wrong in a network, of which no stream knows.
void NcclGroup::wait() const {
    const auto is_done = [](const Device& device) {
        const cudaError_t status = cudaEventQuery(device.end.get());
        if (status == cudaSuccess) return true;
        if (status != cudaErrorNotReady) check(status);
        cudaGetLastError(); // not ready is no error
        ncclResult_t late = ncclSuccess;
        collective::check(ncclCommGetAsyncError(device.communicator, &late));
        if (late != ncclInProgress) collective::check(late);
        return false;
    };
    for (std::size_t done = 0; done < devices_.size();) {
        done = 0;
        for (const auto& device : devices_) done += is_done(*device) ? 1 : 0;
    }
}

double NcclGroup::end() {
    double slowest = 0;
    try {
        for (const auto& device : devices_) {
            use(device->rank);
            device->end.record(device->stream);
        }
        wait();
        for (const auto& device : devices_)
            slowest = std::max(slowest, device->end.seconds_since(device->begin));
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
        Check check =
            check_values(device->stream, device->receive, plan_.element,
                         received(plan_.kind, count_, ranks_), expected(device->rank), bound());
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
    if (seen_->connections.peer && !seen_->link.empty()) context_.setting("link", seen_->link);
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
