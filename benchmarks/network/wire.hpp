// SPDX-License-Identifier: Apache-2.0
//
// A rank's connection to its partner: UCX's context, worker and endpoint. Ranks meet over MPI, which exchanges
// addresses and is quiet while anything is timed.
//
// A partner that has finished must go on driving UCX until the other one has: over TCP, and wherever UCX emulates
// something, it is the partner's processor that acknowledges. part() is that: everybody drives UCX until all are there.

#pragma once

#include "lanes.hpp"
#include "pairs.hpp"
#include "way.hpp"

#include <assay/benchmark.hpp>

#include <sched.h>
#include <ucp/api/ucp.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
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

class Wire {
public:
    /// `features`: UCP_FEATURE_RMA, UCP_FEATURE_TAG. Throws std::runtime_error, on all ranks or on none.
    Wire(std::uint64_t features, Way way, Context& context);
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;
    ~Wire();

    ucp_context_h context() const { return context_.get(); }
    ucp_worker_h worker() const { return worker_.get(); }
    ucp_ep_h endpoint() const { return endpoint_; }
    Pairing pairing() const { return pairing_; }
    int rank() const { return rank_; }
    int ranks() const { return ranks_; }

    /// Where nothing happens for microseconds, somebody else may need the core: without yielding, ranks
    /// that share one with other work wait for each other's time slices.
    void progress() noexcept {
        constexpr unsigned patience = 256; // calls; 20 ns each over shared memory
        if (ucp_worker_progress(worker_.get()) != 0)
            idle_ = 0;
        else if (++idle_ % patience == 0)
            ::sched_yield();
    }
    /// Remembers the first failure.
    void note(ucs_status_t status) noexcept {
        if (status != UCS_OK && failure_ == UCS_OK) failure_ = status;
    }
    /// Until the request is complete; nullptr and errors are answers, too.
    void wait(ucs_status_ptr_t request) noexcept;
    /// Until all that was put and got so far is there, on the partner's side as well.
    void flush() noexcept;
    /// Until every rank is here. Nothing of UCX is under way afterwards.
    void part();

    /// Throws what went wrong in any operation, where something did.
    void check() const;
    /// After so many bytes to or from this rank, at least: fails the check where they took another way,
    /// and records it.
    Check prove(Check check, double least_bytes) const;
    /// The largest value over all ranks.
    double max(double value) const { return team_.team().max(value); }
    /// The partner's bytes for these.
    std::vector<std::byte> swap(std::span<const std::byte> own) const;
    /// An error on one rank becomes an error on all: `problem` is empty, or this one's.
    void agree(const std::string& problem) const;

private:
    std::string open(std::uint64_t features, std::vector<std::byte>& address);
    std::string connect(const std::vector<std::byte>& address);
    void find_lanes();

    Context team_;
    Way way_;
    int ranks_;
    int rank_;
    Pairing pairing_;
    ContextHandle context_;
    WorkerHandle worker_;
    ucp_ep_h endpoint_ = nullptr;
    std::vector<Lane> lanes_;
    collective::Traffic before_;
    ucs_status_t failure_ = UCS_OK;
    unsigned idle_ = 0;
};

/// Times the calls of a batch, ends what UCX still has to do outside of it.
class WireClock {
public:
    static constexpr double resolution = 1e-9; ///< seconds; that of the host's clock counts
    explicit WireClock(Wire& wire) : wire_{wire} {}

    template <class Run>
    double seconds(std::uint64_t calls, Run&& run) {
        using Clock = std::chrono::steady_clock;
        const auto start = Clock::now();
        for (std::uint64_t i = 0; i < calls; ++i) run();
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        wire_.part();
        return seconds;
    }

private:
    Wire& wire_;
};

} // namespace assay::network
