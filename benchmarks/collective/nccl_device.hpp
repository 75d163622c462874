// SPDX-License-Identifier: Apache-2.0
//
// One device as a rank: its stream, events, buffers and communicator. For nccl_group.cpp and nccl_fit.cpp.

#pragma once

#include "collective/nccl_error.hpp"
#include "collective/nccl_group.hpp"
#include "device/handles.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace assay::collective {

/// Makes a device the current one: of streams, events, memory and launches.
inline void use(int device) { device::check(cudaSetDevice(device)); }

inline int ranks_of(Symbolic wanted, int devices) {
    return wanted.symbol == Symbol::none ? static_cast<int>(wanted.number) : devices;
}

inline int devices_there() {
    int count = 0;
    device::check(cudaGetDeviceCount(&count));
    return count;
}

inline ncclDataType_t type_of(Element element) {
    switch (element) {
    case Element::fp64:
        return ncclFloat64;
    case Element::fp16:
        return ncclFloat16;
    // Older headers name it for nvcc alone.
    case Element::bf16:
        return static_cast<ncclDataType_t>(9);
#if NCCL_VERSION_CODE >= 22403
    case Element::fp8_e4m3:
        return ncclFloat8e4m3;
    case Element::fp8_e5m2:
        return ncclFloat8e5m2;
#endif
    default:
        return ncclFloat32;
    }
}

/// Memory of the current device, from CUDA or from NCCL.
class Memory {
public:
    Memory() = default;
    Memory(std::size_t bytes, Allocation buffers) : bytes_{bytes} {
        if (bytes == 0) return;
#if NCCL_VERSION_CODE >= 21903
        if (buffers == Allocation::registered) {
            is_nccl_ = true;
            collective::check(ncclMemAlloc(&data_, bytes));
            return;
        }
#endif
        static_cast<void>(buffers);
        device::check(cudaMalloc(&data_, bytes));
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

} // namespace assay::collective
