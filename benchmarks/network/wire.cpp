// SPDX-License-Identifier: Apache-2.0
#include "wire.hpp"

#include "collective/world.hpp"
#include "where.hpp"

#include <assay/verify.hpp>

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <utility>

namespace assay::network {
namespace {

std::string text_of(ucs_status_t status) { return ucs_status_string(status); }

/// "UCX_TLS=tcp UCX_NET_DEVICES=eth0", as far as they are set.
std::string choices() {
    std::string text;
    for (const char* name : {"UCX_TLS", "UCX_NET_DEVICES"}) {
        const char* value = std::getenv(name); // NOLINT(concurrency-mt-unsafe): nobody sets any
        if (value == nullptr) continue;
        if (!text.empty()) text += ' ';
        text += std::string{name} + '=' + value;
    }
    return text;
}

std::string with_choices(std::string text) {
    const auto chosen = choices();
    return chosen.empty() ? text : std::move(text) + " (" + chosen + ')';
}

/// What ucp_ep_print_info writes.
std::string info_of(ucp_ep_h endpoint) {
    char* text = nullptr;
    std::size_t length = 0;
    std::FILE* const stream = ::open_memstream(&text, &length);
    if (stream == nullptr) return {};
    ucp_ep_print_info(endpoint, stream);
    std::fclose(stream);
    std::string info{text, length};
    std::free(text); // NOLINT(cppcoreguidelines-no-malloc): open_memstream's
    return info;
}

} // namespace

Wire::Wire(std::uint64_t features, Way way, Context& context)
    : team_{context}, way_{way}, ranks_{context.team().size()}, rank_{context.team().rank()},
      pairing_{pairing_of(rank_, ranks_)} {
    take_place(context);
    std::vector<std::byte> address;
    agree(open(features, address));
    agree(connect(swap(address)));
    flush(); // opens the lanes
    part();
    agree(failure_ == UCS_OK
              ? ""
              : with_choices("UCX does not reach the partner: " + text_of(failure_)));
    find_lanes();
    before_ = collective::traffic_now();
}

Wire::~Wire() {
    if (endpoint_ == nullptr) return;
    ucp_request_param_t param{};
    wait(ucp_ep_close_nbx(endpoint_, &param));
    try {
        part();
    } catch (const std::exception&) {
        // MPI has failed: nobody is left to wait for.
    }
}

std::string Wire::open(std::uint64_t features, std::vector<std::byte>& address) {
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
    params.features = features;
    params.estimated_num_eps = 1;
    ucp_context_h context = nullptr;
    if (const auto status = ucp_init(&params, nullptr, &context); status != UCS_OK)
        return with_choices("UCX cannot be initialised: " + text_of(status));
    context_.reset(context);

    ucp_worker_params_t wanted{};
    wanted.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    wanted.thread_mode = UCS_THREAD_MODE_SINGLE;
    ucp_worker_h worker = nullptr;
    if (const auto status = ucp_worker_create(context, &wanted, &worker); status != UCS_OK)
        return with_choices("UCX cannot make a worker: " + text_of(status));
    worker_.reset(worker);

    ucp_address_t* own = nullptr;
    std::size_t length = 0;
    if (const auto status = ucp_worker_get_address(worker, &own, &length); status != UCS_OK)
        return "UCX provides no address: " + text_of(status);
    const auto* bytes = reinterpret_cast<const std::byte*>(own);
    address.assign(bytes, bytes + length);
    ucp_worker_release_address(worker, own);
    return {};
}

std::string Wire::connect(const std::vector<std::byte>& address) {
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    params.address = reinterpret_cast<const ucp_address_t*>(address.data());
    if (const auto status = ucp_ep_create(worker_.get(), &params, &endpoint_); status != UCS_OK) {
        endpoint_ = nullptr;
        return with_choices("the two processes have no transport of UCX in common: " +
                            text_of(status));
    }
    return {};
}

void Wire::find_lanes() {
    lanes_ = lanes_of(info_of(endpoint_));
    if (lanes_.empty()) return;
    team_.setting("transports", transports_of(lanes_));
    team_.setting("network_devices", devices_of(lanes_));
    team_.tell({.network_devices = devices_of(lanes_)});
    team_.setting("lanes", words_of(lanes_));
}

void Wire::wait(ucs_status_ptr_t request) noexcept {
    if (request == nullptr) return;
    if (UCS_PTR_IS_ERR(request)) {
        note(UCS_PTR_STATUS(request));
        return;
    }
    auto status = UCS_INPROGRESS;
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) progress();
    note(status);
    ucp_request_free(request);
}

void Wire::flush() noexcept {
    const ucp_request_param_t param{};
    wait(ucp_ep_flush_nbx(endpoint_, &param));
}

void Wire::part() {
    MPI_Request request = MPI_REQUEST_NULL;
    mpi::check(MPI_Ibarrier(mpi::communicator(), &request), "MPI_Ibarrier");
    for (int there = 0; there == 0;) {
        progress();
        mpi::check(MPI_Test(&request, &there, MPI_STATUS_IGNORE), "MPI_Test");
    }
}

void Wire::check() const {
    if (failure_ != UCS_OK)
        throw std::runtime_error{"an operation of UCX failed: " + text_of(failure_)};
}

Check Wire::prove(Check check, double least_bytes) const {
    if (least_bytes <= 0) return check; // nothing was called yet
    const auto now = collective::traffic_now();
    const collective::Traffic seen{.tcp = now.tcp - before_.tcp, .rdma = now.rdma - before_.rdma};
    auto wrong = contradiction(way_, lanes_);
    if (wrong.empty()) wrong = collective::contradiction(transport_of(way_), seen, least_bytes);
    if (wrong.empty()) {
        const auto path = way_ == Way::any ? transports_of(lanes_) : name_of(way_);
        if (!path.empty()) team_.setting("path", path);
        return check;
    }
    return check_value(std::numeric_limits<double>::infinity(), check.bound,
                       std::move(check.method),
                       joined("asked for ", name_of(way_), ", but ", wrong));
}

std::vector<std::byte> Wire::swap(std::span<const std::byte> own) const {
    constexpr int tag = 21;
    const auto exchange = [&](const void* from, int count, void* to, int room) {
        mpi::check(MPI_Sendrecv(from, count, MPI_BYTE, pairing_.partner, tag, to, room, MPI_BYTE,
                                pairing_.partner, tag, mpi::communicator(), MPI_STATUS_IGNORE),
                   "MPI_Sendrecv");
    };
    const std::uint64_t length = own.size();
    std::uint64_t other = 0;
    exchange(&length, sizeof length, &other, sizeof other);
    std::vector<std::byte> theirs(other);
    exchange(own.data(), static_cast<int>(length), theirs.data(), static_cast<int>(other));
    return theirs;
}

void Wire::agree(const std::string& problem) const {
    const int failed = static_cast<int>(max(problem.empty() ? 0 : rank_ + 1));
    if (failed == 0) return;
    if (!problem.empty()) throw std::runtime_error{problem};
    throw std::runtime_error{
        joined("rank ", failed - 1, " of ", ranks_, " failed to start; see its log")};
}

} // namespace assay::network
