// SPDX-License-Identifier: Apache-2.0
//
// The wire of UCX: context, worker and endpoint.

#pragma once

#include "meeting.hpp"
#include "where.hpp"

#include <sched.h>
#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace assay::network {

/// Frees one of UCX's handles.
template <auto Free>
struct Release {
    template <class T>
    void operator()(T* handle) const {
        Free(handle);
    }
};
using ContextHandle = std::unique_ptr<ucp_context, Release<ucp_cleanup>>;
using WorkerHandle = std::unique_ptr<ucp_worker, Release<ucp_worker_destroy>>;
using KeyHandle = std::unique_ptr<ucp_rkey, Release<ucp_rkey_destroy>>;

struct Region {
    Word* data = nullptr; ///< where it is for UCX, and for the host where it is the host's
    ucp_mem_h handle = nullptr;
    std::uint64_t remote = 0; ///< where the partner's is, in its address space
    KeyHandle key;            ///< to the partner's
};

class Wire;
/// Operations of one kind that are under way.
class Pending {
public:
    explicit Pending(Wire& wire) : wire_{wire} {
        params_.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
        params_.cb.send = one_is_done;
        params_.user_data = this;
        received_ = params_;
        received_.cb.recv = one_is_received;
    }
    Pending(const Pending&) = delete;
    Pending& operator=(const Pending&) = delete;
    ~Pending() = default;
    std::uint64_t count() const { return count_; }

private:
    friend class Wire;
    static void one_is_done(void* request, ucs_status_t status, void* user) noexcept;
    static void one_is_received(void* request, ucs_status_t status,
                                const ucp_tag_recv_info_t* /*info*/, void* user) noexcept {
        one_is_done(request, status, user);
    }

    Wire& wire_;
    ucp_request_param_t params_{};
    ucp_request_param_t received_{};
    std::uint64_t count_ = 0;
};

class Wire : public Meeting {
public:
    enum class Use : std::uint8_t { one_sided, tagged };

    /// Throws std::runtime_error, on all ranks or on none.
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

    /// From this rank's memory into the partner's, and the other way round.
    void put(Piece from, Piece to, Pending& pending) noexcept {
        begun(ucp_put_nbx(endpoint_, at(from), from.bytes, to.region.remote + to.begin,
                          to.region.key.get(), &pending.params_),
              pending);
    }
    void get(Piece to, Piece from, Pending& pending) noexcept {
        begun(ucp_get_nbx(endpoint_, at(to), to.bytes, from.region.remote + from.begin,
                          from.region.key.get(), &pending.params_),
              pending);
    }
    /// A message, and room for the next one of that tag.
    void send(Piece from, std::uint64_t tag, Pending& pending) noexcept {
        begun(ucp_tag_send_nbx(endpoint_, at(from), from.bytes, tag, &pending.params_), pending);
    }
    void receive(Piece to, std::uint64_t tag, Pending& pending) noexcept {
        begun(ucp_tag_recv_nbx(worker_.get(), at(to), to.bytes, tag, ~ucp_tag_t{0},
                               &pending.received_),
              pending);
    }

    /// Where nothing happens for microseconds, somebody else may need the core: without yielding, ranks
    /// that share one with other work wait for each other's time slices.
    void progress() noexcept {
        constexpr unsigned patience = 256; // calls; 20 ns each over shared memory
        if (ucp_worker_progress(worker_.get()) != 0)
            idle_ = 0;
        else if (++idle_ % patience == 0)
            ::sched_yield();
    }
    void finish(const Pending& pending) noexcept {
        while (pending.count() > 0) progress();
    }
    /// A later put arrives after all earlier ones.
    void fence() noexcept { note(ucp_worker_fence(worker_.get())); }
    /// Until all that was put and got so far is there, on the partner's side as well.
    void flush() noexcept;
    /// Until every rank is here. Nothing of UCX is under way afterwards.
    void part() {
        Meeting::part([this] { progress(); });
    }
    /// Throws what went wrong in any operation, where something did.
    void check() const;

private:
    friend class Pending;
    static char* at(const Piece& piece) {
        return reinterpret_cast<char*>(piece.region.data) + piece.begin;
    }
    /// Remembers the first failure.
    void note(ucs_status_t status) noexcept {
        if (status != UCS_OK && failure_ == UCS_OK) failure_ = status;
    }
    void begun(ucs_status_ptr_t request, Pending& pending) noexcept {
        if (UCS_PTR_IS_PTR(request))
            ++pending.count_;
        else if (UCS_PTR_IS_ERR(request))
            note(UCS_PTR_STATUS(request));
    }
    std::string open(Use use, std::vector<std::byte>& address);
    std::string connect(const std::vector<std::byte>& address);
    /// nullptr and errors are answers, too.
    void wait(ucs_status_ptr_t request) noexcept;

    ContextHandle context_;
    WorkerHandle worker_;
    ucp_ep_h endpoint_ = nullptr;
    ucs_status_t failure_ = UCS_OK;
    unsigned idle_ = 0;
};

inline void Pending::one_is_done(void* request, ucs_status_t status, void* user) noexcept {
    auto* const self = static_cast<Pending*>(user);
    --self->count_;
    self->wire_.note(status);
    ucp_request_free(request);
}

} // namespace assay::network
