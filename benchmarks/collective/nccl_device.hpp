// SPDX-License-Identifier: Apache-2.0
//
// One device as a rank: its stream, events, buffers and communicator. For nccl_group.cpp and nccl_fit.cpp.

#pragma once

#include "collective/nccl_group.hpp"
#include "device/handles.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace assay::collective {

/// Makes a device the current one: of streams, events, memory and launches.
inline void use(int device) { device::check(cudaSetDevice(device)); }

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

// The first releases that have them.
inline constexpr int registration_since = 21903; // 2.19.3: ncclMemAlloc, ncclCommRegister
inline constexpr int fp8_since = 22403;
inline constexpr int windows_since = 22703; // ncclCommWindowRegister

/// Memory of the current device, from CUDA or from NCCL.
class Memory {
public:
    Memory(std::size_t bytes, [[maybe_unused]] Allocation buffers) : bytes_{bytes} {
        if (bytes == 0) return;
        void* raw = nullptr;
#if NCCL_VERSION_CODE >= 21903
        if (buffers != Allocation::plain) {
            collective::check(ncclMemAlloc(&raw, bytes));
            data_ = {raw, [](void* memory) { ncclMemFree(memory); }};
            return;
        }
#endif
        device::check(cudaMalloc(&raw, bytes));
        data_ = {raw, [](void* memory) { cudaFree(memory); }};
    }
    void* data() const { return data_.get(); }
    std::size_t bytes() const { return bytes_; }

private:
    std::size_t bytes_;
    std::unique_ptr<void, void (*)(void*)> data_{nullptr, [](void* /*nothing*/) {}};
};

/// A communicator's knowledge of a buffer. Windows are made by all ranks at once, when the group call ends in which
/// they are asked for: then is_known() says whether there is one.
class Registration {
public:
    Registration(ncclComm_t communicator, const Memory& memory, [[maybe_unused]] bool window)
        : communicator_{communicator} {
        if (memory.data() == nullptr) return;
#if NCCL_VERSION_CODE >= 22703
        if (window) {
            collective::check(ncclCommWindowRegister(communicator, memory.data(), memory.bytes(),
                                                     &window_, NCCL_WIN_COLL_SYMMETRIC));
            return;
        }
#endif
#if NCCL_VERSION_CODE >= 21903
        collective::check(ncclCommRegister(communicator, memory.data(), memory.bytes(), &handle_));
#endif
    }
    ~Registration() {
#if NCCL_VERSION_CODE >= 22703
        if (window_ != nullptr) ncclCommWindowDeregister(communicator_, window_);
#endif
#if NCCL_VERSION_CODE >= 21903
        if (handle_ != nullptr) ncclCommDeregister(communicator_, handle_);
#endif
    }
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;

    bool is_known() const { return handle_ != nullptr || window_ != nullptr; }

private:
    ncclComm_t communicator_;
    void* handle_ = nullptr;
#if NCCL_VERSION_CODE >= 22703
    ncclWindow_t window_ = nullptr;
#else
    void* window_ = nullptr;
#endif
};

/// Made while it is the current one.
struct NcclGroup::Device {
    int rank;
    int number; // of the device
    device::Stream stream;
    device::Event begin;
    device::Event end;
    Memory first;  // what is sent; in place, everything
    Memory second; // what is received
    void* send;
    void* receive;
    ncclComm_t communicator = nullptr;
    std::vector<std::unique_ptr<Registration>> registrations;

    Device(Kind kind, const NcclParams& p, int rank_, int number_, int ranks, std::size_t count)
        : rank{rank_}, number{number_},
          first{bytes(p, p.in_place ? held_in_place(kind, count, ranks) : sent(kind, count, ranks)),
                p.buffers},
          second{bytes(p, p.in_place ? 0 : received(kind, count, ranks)), p.buffers},
          send{first.data()}, receive{p.in_place ? first.data() : second.data()} {
        if (!p.in_place) return;
        const std::size_t own = bytes(p, own_part(kind, count, rank));
        if (kind == Kind::allgather) send = static_cast<char*>(send) + own;
        if (kind == Kind::reduce_scatter) receive = static_cast<char*>(receive) + own;
    }
    static std::size_t bytes(const NcclParams& p, std::size_t numbers) {
        return numbers * static_cast<std::size_t>(bytes_of(p.element));
    }
};

} // namespace assay::collective
