// SPDX-License-Identifier: Apache-2.0
//
// The wire of libfabric: one reliable datagram endpoint of one provider, which is asked for by name.

#pragma once

#include "meeting.hpp"
#include "where.hpp"

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace assay::network {

struct Release {
    template <class Handle>
    void operator()(Handle* handle) const {
        fi_close(&handle->fid);
    }
};
template <class T>
using Handle = std::unique_ptr<T, Release>;

struct Region {
    Word* data = nullptr;
    std::size_t bytes = 0;
    Handle<fid_mr> registered;
    std::uint64_t remote =
        0; ///< where the partner's is: an address, or 0 where the provider counts from its begin
    std::uint64_t key = 0; ///< to the partner's
};

class Wire;
/// Operations of one kind that are under way.
class Pending {
public:
    explicit Pending(Wire& /*wire*/) {}
    Pending(const Pending&) = delete;
    Pending& operator=(const Pending&) = delete;
    ~Pending() = default;
    std::uint64_t count() const { return count_; }

private:
    friend class Wire;
    std::uint64_t count_ = 0;
};

class Wire : public Meeting {
public:
    enum class Use : std::uint8_t { one_sided, tagged };

    /// Throws std::runtime_error, on all ranks or on none. Either use has both kinds of operations.
    Wire(Use use, Way way, Context& context);
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;
    ~Wire();

    /// Empty, or why there is no such memory.
    std::string allocate(Region& region, std::size_t bytes, Where where);
    void release(Region& region);
    /// Address that the partner needs to reach it.
    std::string describe(const Region& region, std::vector<std::byte>& words) const;
    std::string adopt(Region& region, const std::vector<std::byte>& words) const;

    /// From this rank's memory into the partner's, and the other way round. A put is done when it is there.
    void put(Piece from, Piece to, Pending& pending) noexcept;
    void get(Piece to, Piece from, Pending& pending) noexcept;
    /// A message, and room for the next one of that tag.
    void send(Piece from, std::uint64_t tag, Pending& pending) noexcept;
    void receive(Piece to, std::uint64_t tag, Pending& pending) noexcept;

    void progress() noexcept;
    void finish(const Pending& pending) noexcept {
        while (pending.count() > 0) progress();
    }
    /// A later put arrives after all earlier ones.
    void fence() noexcept { flush(); }
    /// Until all that was put and got so far is there, on the partner's side as well.
    void flush() noexcept {
        while (under_way_ > 0) progress();
    }
    /// Until every rank is here. Nothing is under way afterwards.
    void part() {
        Meeting::part([this] { progress(); });
    }
    /// Throws what went wrong in any operation, where something did.
    void check() const;

private:
    /// A provider's record of an operation and its owner. The words come first: a completion names their address.
    struct Operation {
        fi_context2 words;
        Pending* pending;
        Operation* next; ///< of those that are free
    };

    std::string open(Way way, std::vector<std::byte>& address);
    std::string connect(const std::vector<std::byte>& address);
    std::string greet();
    template <class Call>
    void begin(Pending& pending, Call&& call) noexcept;
    void end(void* operation) noexcept;
    /// Remembers the first failure: a negative number of libfabric's.
    void note(ssize_t status) noexcept {
        if (status < 0 && failure_ == 0) failure_ = static_cast<int>(status);
    }

    struct FreeInfo {
        void operator()(fi_info* info) const { fi_freeinfo(info); }
    };
    std::unique_ptr<fi_info, FreeInfo> info_;
    Handle<fid_fabric> fabric_;
    Handle<fid_domain> domain_;
    Handle<fid_av> addresses_;
    Handle<fid_cq> completions_;
    Handle<fid_ep> endpoint_; // ends first: it uses all others
    fi_addr_t partner_ = FI_ADDR_UNSPEC;
    std::vector<Operation> operations_;
    Operation* free_ = nullptr;
    std::uint64_t under_way_ = 0;
    std::uint64_t regions_ = 0;
    int failure_ = 0;
    unsigned idle_ = 0;
};

} // namespace assay::network
