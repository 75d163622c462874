// SPDX-License-Identifier: Apache-2.0

#include "collective/nccl_group.hpp"

#include "collective/growth.hpp"
#include "collective/nccl_data.hpp"
#include "collective/nccl_device.hpp"

#include <assay/verify.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace assay::collective {

using device::check;

NcclGroup::NcclGroup(Kind kind, const NcclParams& params, const Context& context)
    : kind_{kind}, params_{params}, context_{context},
      members_{join_members(params.ranks, devices_there(), context)}, ranks_{members_.ranks},
      count_{count_of(kind, bytes_of(params.element), params.bytes, ranks_)},
      largest_{largest_value(params.element, reduces(kind) ? ranks_ : 1)},
      most_calls_{kind == Kind::allreduce
                      ? finite_calls<float>(ranks_, static_cast<double>(largest_ * ranks_))
                      : exact_scatters(params.element, ranks_, largest_)} {
    agreed(context_, [this] { set_up(); });
    connect();
    agreed(context_, [this] { enroll(); });
    context_.setting("ranks", ranks_);
    context_.setting("machines", members_.machines);
    context_.tell({.machines = members_.machines, .ranks = ranks_});
    context_.setting("processes", members_.processes);
    context_.setting("message_bytes", bytes());
    poison();
    rewind();
}

void NcclGroup::set_up() {
    for (int i = 0; i < members_.here; ++i) {
        use(members_.device + i);
        devices_.push_back(std::make_unique<Device>(kind_, params_, members_.first + i,
                                                    members_.device + i, ranks_, count_));
        fill(*devices_.back());
    }
    use_home();
}

void NcclGroup::connect() {
    const auto communicators = communicators_of(members_);
    for (std::size_t i = 0; i < devices_.size(); ++i) devices_[i]->communicator = communicators[i];
}

/// Makes the buffers known to NCCL, where that was asked for.
void NcclGroup::enroll() {
    if (params_.buffers == Allocation::plain) return;
    const bool windows = params_.buffers == Allocation::symmetric;
    if (windows) collective::check(ncclGroupStart());
    for (const auto& device : devices_) {
        use(device->number);
        for (const Memory* memory : {&device->first, &device->second})
            if (memory->data() != nullptr)
                device->registrations.push_back(
                    std::make_unique<Registration>(device->communicator, *memory, windows));
    }
    if (windows) collective::check(ncclGroupEnd());
    use_home();
    for (const auto& device : devices_)
        for (const auto& one : device->registrations)
            if (!one->is_known())
                throw device::Error{
                    "NCCL takes no buffers of this kind here: it needs virtual memory of the "
                    "driver (NCCL_CUMEM_ENABLE) and, for windows, peer access between all devices"};
}

/// Where a call that names no device goes.
void NcclGroup::use_home() const { use(members_.device); }

NcclGroup::~NcclGroup() {
    if (!failed_)
        for (const auto& device : devices_)
            if (cudaSetDevice(device->number) == cudaSuccess) device->registrations.clear();
    for (const auto& device : devices_) {
        if (device->communicator == nullptr) continue;
        cudaSetDevice(device->number);
        if (failed_) // destroying would wait for what never ends
            ncclCommAbort(device->communicator);
        else
            ncclCommDestroy(device->communicator);
    }
    for (auto& device : devices_) {
        cudaSetDevice(device->number);
        if (failed_)
            for (auto& one : device->registrations) static_cast<void>(one.release());
        device.reset();
    }
    cudaSetDevice(members_.device);
}

std::vector<NcclGroup::Lane> NcclGroup::lanes() const {
    std::vector<Lane> all;
    for (const auto& device : devices_) all.push_back({device->number, &device->stream});
    return all;
}

/// What the rank sends.
void NcclGroup::fill(const Device& device) const {
    fill_values(device.stream, device.send, params_.element, sent(kind_, count_, ranks_),
                device.rank, largest_);
}

/// Every device sends a block to each other and gets one from each; or to the next one.
void NcclGroup::rotate(const Device& device) const {
    const auto type = type_of(params_.element);
    const std::size_t block = Device::bytes(params_, count_);
    const auto* const from = static_cast<const char*>(device.send);
    auto* const to = static_cast<char*>(device.receive);
    if (kind_ == Kind::send_receive) {
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
    const auto type = type_of(params_.element);
    switch (kind_) {
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
    if (params_.in_place && reduces(kind_) && calls_ == most_calls_) refill();
    try {
        queue();
    } catch (...) {
        failed_ = true;
        tell_failure();
        throw;
    }
    ++calls_;
}

void NcclGroup::begin() {
    for (const auto& device : devices_) {
        use(device->number);
        device->begin.record(device->stream);
    }
    use_home();
}

/// Waits for all devices in turns, because one that fails leaves the others waiting for ever; and looks for
/// what went wrong in a network, of which no stream knows.
void NcclGroup::wait() const {
    const auto is_done = [](const Device& device) {
        const cudaError_t status = cudaEventQuery(device.end.get());
        if (status == cudaSuccess) return true;
        if (status != cudaErrorNotReady) check(status);
        cudaGetLastError(); // not ready is not an error
        ncclResult_t late = ncclSuccess;
        collective::check(ncclCommGetAsyncError(device.communicator, &late));
        if (late != ncclInProgress) collective::check(late);
        return false;
    };
    constexpr std::uint64_t seldom = 1024; // loops between questions to the other processes
    std::uint64_t loops = 0;
    for (std::size_t done = 0; done < devices_.size();) {
        done = 0;
        for (const auto& device : devices_) done += is_done(*device) ? 1 : 0;
        if (++loops % seldom == 0 && another_failed())
            throw device::Error{"another rank could not go on"};
    }
}

double NcclGroup::end() {
    double slowest = 0;
    try {
        for (const auto& device : devices_) {
            use(device->number);
            device->end.record(device->stream);
        }
        wait();
        for (const auto& device : devices_)
            slowest = std::max(slowest, device->end.seconds_since(device->begin));
        use_home();
    } catch (...) {
        failed_ = true;
        tell_failure();
        throw;
    }
    if (!seen_) {
        seen_ = read_nccl_log(log_.text());
        recall_plugins(*seen_);
    }
    log_.forget();
    return slowest;
}

double NcclGroup::bytes() const {
    const auto blocks = divided(kind_) ? static_cast<double>(ranks_) : 1.0;
    return static_cast<double>(Device::bytes(params_, count_)) * blocks;
}

Expected NcclGroup::expected(int rank) const {
    const std::uint64_t calls = params_.in_place ? std::max<std::uint64_t>(calls_, 1) : 1;
    return {.kind = kind_,
            .rank = rank,
            .ranks = ranks_,
            .count = count_,
            .largest = largest_,
            .growth = kind_ == Kind::allreduce ? growth(ranks_, calls) : 1,
            .times = static_cast<double>(calls)};
}

double NcclGroup::bound() const {
    if (kind_ != Kind::allreduce || !params_.in_place) return 0;
    const auto calls = std::max<std::uint64_t>(calls_, 1);
    const auto largest = static_cast<double>(largest_ * ranks_);
    return params_.element == Element::fp64 ? growth_bound<double>(ranks_, calls, largest)
                                            : growth_bound<float>(ranks_, calls, largest);
}

Check NcclGroup::verify() const {
    Check first{.passed = true};
    bool any = false;
    for (const auto& device : devices_) {
        use(device->number);
        Check check =
            check_values(device->stream, device->receive, params_.element,
                         received(kind_, count_, ranks_), expected(device->rank), bound());
        if (!check.passed)
            check.detail = joined(members_.processes > 1 ? "rank " : "device ", device->rank, ": ",
                                  check.detail);
        if (!any || (first.passed && !check.passed)) first = std::move(check);
        any = true;
    }
    use_home();
    return prove(std::move(first));
}

Check NcclGroup::prove(Check check) const {
    if (!seen_) return check; // nothing was called yet
    const std::string path = path_of(*seen_);
    const std::string missing = unproved(params_, *seen_);
    if (!path.empty()) context_.setting("path", path);
    if (!missing.empty()) context_.setting("path_not_proved", missing);
    if (seen_->connections.peer && !seen_->link.empty()) context_.setting("link", seen_->link);
    if (!seen_->algorithm.empty()) context_.setting("nccl.algorithm", seen_->algorithm);
    if (!seen_->protocol.empty()) context_.setting("nccl.protocol", seen_->protocol);
    if (!seen_->kernel.empty()) context_.setting("nccl.kernel", seen_->kernel);
    if (const auto plugin = net_plugin_of(*seen_); !plugin.empty())
        context_.setting("net_plugin", plugin);
    if (seen_->channels > 0) context_.setting("nccl.channels", seen_->channels);
    // Bus bandwidth may exceed what a device's links carry where the switch does a part of the work.
    const bool by_switch = seen_->algorithm.starts_with("NVLS") || !seen_->kernel.empty();
    context_.tell({.links = links_of(*seen_),
                   .switch_work = !by_switch              ? ""
                                  : seen_->kernel.empty() ? seen_->algorithm
                                                          : seen_->kernel});
    const auto expected = expected_of_nvlink(params_, *seen_, least_carried(kind_, bytes(), ranks_),
                                             members_.machines);
    if (expected.least && !is_rccl) context_.nvlink_at_least(members_.on_machine, *expected.least);
    if (expected.most && !is_rccl) context_.nvlink_at_most(members_.on_machine, *expected.most);
    const std::string wrong = contradiction(params_, *seen_);
    if (wrong.empty() || !check.passed) return check;
    return check_value(std::numeric_limits<double>::infinity(), check.bound,
                       std::move(check.method), "not as requested: " + wrong);
}

void NcclGroup::poison() {
    for (const auto& device : devices_) {
        use(device->number);
        const std::size_t bytes = Device::bytes(params_, received(kind_, count_, ranks_));
        check(cudaMemsetAsync(device->receive, 0xff, bytes, device->stream.get())); // no numbers
        device->stream.wait();
    }
    use_home();
}

/// One element of the last device, by one unit of what it is a multiple of.
void NcclGroup::spoil() {
    const Device& device = *devices_.back();
    use(device.number);
    spoil_value(device.stream, device.receive, params_.element, received(kind_, count_, ranks_) / 2,
                expected(device.rank).growth);
    use_home();
}

void NcclGroup::refill() {
    for (const auto& device : devices_) {
        use(device->number);
        fill(*device);
    }
    use_home();
    calls_ = 0;
}

void NcclGroup::rewind() {
    calls_ = 0;
    if (!params_.in_place) return;
    refill();
    for (const auto& device : devices_) device->stream.wait();
}

} // namespace assay::collective
