// SPDX-License-Identifier: Apache-2.0
#include "device/block.hpp"
#include "device/instructions.cuh"
#include "device/launch.cuh"

namespace assay::device {
namespace {

/// One thread polls the host's flag and gives up after `limit` nanoseconds.
__global__ void wait_for(volatile const int* flag, volatile int* gave_up,
                         unsigned long long limit) {
    const unsigned long long begin = nanoseconds();
    while (*flag == 0) {
        if (nanoseconds() - begin < limit) continue;
        *gave_up = 1;
        return;
    }
}

constexpr unsigned long long patience = 2'000'000'000; // ns; queueing takes microseconds

} // namespace

Block::Block() : signals_{count} {
    // With lazy loading, the first launch would load the kernel behind a stream that is held.
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, wait_for));
}

void Block::hold(const Stream& stream) {
    signals_.data()[flag] = 0;
    signals_.data()[gave_up] = 0;
    launch(wait_for, {1, 1, stream.get()}, signals_.data() + flag, signals_.data() + gave_up,
           patience);
    check_launches();
}

void Block::release() { *static_cast<volatile int*>(signals_.data() + flag) = 1; }

void Block::check_held() const {
    if (*static_cast<volatile const int*>(signals_.data() + gave_up) != 0)
        throw Error{"the host took longer than 2 s to queue the work of one batch"};
}

} // namespace assay::device
