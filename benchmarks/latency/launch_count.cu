// SPDX-License-Identifier: Apache-2.0
#include "device/launch.cuh"
#include "latency/launch_count.hpp"

#include <assay/verify.hpp>

#include <span>
#include <string>

namespace assay::latency {
namespace {

/// The sum is not waited for: no value comes back to the thread.
__global__ void count(unsigned long long* counter) { atomicAdd(counter, 1ULL); }

std::string words_of(unsigned long long counted, std::uint64_t expected) {
    return joined(counted, " of ", expected, " kernels incremented the counter");
}

} // namespace

LaunchCount::LaunchCount(const device::Stream& stream) : stream_{stream}, counter_{1} {
    queue();
    device::check_launches();
    start();
}

void LaunchCount::queue() const { device::launch(count, {1, 1, stream_.get()}, counter_.data()); }

void LaunchCount::set(unsigned long long value) {
    device::to_device(std::span<const unsigned long long>{&value, 1}, counter_.data(), stream_);
}

unsigned long long LaunchCount::counted() const {
    return device::to_host(counter_, stream_).front();
}

void LaunchCount::start() {
    set(0);
    expected_ = 0;
    is_spoiled_ = false;
}

void LaunchCount::restart() {
    if (!is_spoiled_)
        if (const unsigned long long found = counted(); found != expected_)
            throw device::Error{words_of(found, expected_)};
    start();
}

Check LaunchCount::verify() const {
    const unsigned long long found = counted();
    const bool is_right = found == expected_ && expected_ > 0;
    return check_value(is_right ? 0 : 1, 0,
                       "a counter on the device, one per kernel, after every batch",
                       words_of(found, expected_));
}

void LaunchCount::poison() {
    set(~0ULL);
    is_spoiled_ = true;
}

void LaunchCount::spoil() {
    set(counted() + 1);
    is_spoiled_ = true;
}

} // namespace assay::latency
