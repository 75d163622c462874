// SPDX-License-Identifier: Apache-2.0
#include "ucx_wire.hpp"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace assay::network {
namespace {

std::string text_of(ucs_status_t status) { return ucs_status_string(status); }

/// The text that ucp_ep_print_info writes.
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

Wire::Wire(Use use, Way way, Context& context) : Meeting{way, context} {
    take_place(context);
    std::vector<std::byte> address;
    agree(open(use, address));
    agree(connect(swap(address)));
    flush(); // opens the lanes
    part();
    agree(failure_ == UCS_OK
              ? ""
              : with_choices("UCX does not reach the partner: " + text_of(failure_)));
    is_open(lanes_of(info_of(endpoint_)));
}

Wire::~Wire() {
    if (endpoint_ == nullptr) return;
    ucp_request_param_t param{};
    wait(ucp_ep_close_nbx(endpoint_, &param));
    try {
        part();
    } catch (const std::exception&) { // NOLINT(bugprone-empty-catch)
        // MPI has failed: nobody is left to wait for.
    }
}

std::string Wire::open(Use use, std::vector<std::byte>& address) {
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
    params.features = use == Use::tagged ? UCP_FEATURE_TAG : UCP_FEATURE_RMA;
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

std::string Wire::allocate(Region& region, std::size_t bytes, Where where) {
    ucp_mem_map_params_t params{};
    params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                        UCP_MEM_MAP_PARAM_FIELD_FLAGS | UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE;
    params.memory_type = where == Where::host ? UCS_MEMORY_TYPE_HOST : UCS_MEMORY_TYPE_CUDA;
    params.address = nullptr;
    params.length = bytes;
    params.flags = UCP_MEM_MAP_ALLOCATE;
    auto status = ucp_mem_map(context_.get(), &params, &region.handle);
    ucp_mem_attr_t attributes{};
    attributes.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
    if (status == UCS_OK) status = ucp_mem_query(region.handle, &attributes);
    if (status != UCS_OK)
        return joined("UCX cannot allocate ", bytes, " bytes of memory: ", text_of(status));
    region.data = static_cast<Word*>(attributes.address);
    return {};
}

void Wire::release(Region& region) {
    region.key.reset();
    if (region.handle != nullptr) ucp_mem_unmap(context_.get(), region.handle);
    region.handle = nullptr;
}

std::string Wire::describe(const Region& region, std::vector<std::byte>& words) const {
    void* packed = nullptr;
    std::size_t length = 0;
    const auto status = ucp_rkey_pack(context_.get(), region.handle, &packed, &length);
    if (status != UCS_OK) return "UCX cannot pack a key: " + text_of(status);
    const auto address = reinterpret_cast<std::uint64_t>(region.data);
    const auto* const first = reinterpret_cast<const std::byte*>(&address);
    const auto* const key = static_cast<const std::byte*>(packed);
    words.assign(first, first + sizeof address);
    words.insert(words.end(), key, key + length);
    ucp_rkey_buffer_release(packed);
    return {};
}

std::string Wire::adopt(Region& region, const std::vector<std::byte>& words) const {
    if (words.size() < sizeof region.remote) return "UCX gave the partner no key";
    std::memcpy(&region.remote, words.data(), sizeof region.remote);
    ucp_rkey_h handle = nullptr;
    const auto status = ucp_ep_rkey_unpack(endpoint_, words.data() + sizeof region.remote, &handle);
    if (status != UCS_OK) return "UCX cannot use the partner's key: " + text_of(status);
    region.key.reset(handle);
    return {};
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

void Wire::check() const {
    if (failure_ != UCS_OK)
        throw std::runtime_error{"an operation of UCX failed: " + text_of(failure_)};
}

} // namespace assay::network
