// SPDX-License-Identifier: Apache-2.0
#include "ofi_wire.hpp"

#include "resources.hpp"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <span>
#include <stdexcept>

namespace assay::network {
namespace {

/// The interface as of libfabric 1.11, which every provider since then offers.
const std::uint32_t version = FI_VERSION(1, 11);
constexpr std::size_t most_operations = 4096; ///< windows are 1024 at most, in both directions
constexpr std::chrono::seconds patience{20};  ///< until the partner is said to be out of reach

std::string text_of(ssize_t status) { return fi_strerror(static_cast<int>(-status)); }

using Infos = std::unique_ptr<fi_info, decltype(&fi_freeinfo)>;

/// Providers that can do all that the benchmarks do, the library's first choice in front. `provider` may be nullptr.
ssize_t ask(const char* provider, Infos& found) {
    const Infos wanted{fi_allocinfo(), fi_freeinfo};
    if (!wanted) return -FI_ENOMEM;
    wanted->caps = FI_RMA | FI_TAGGED;
    wanted->mode = FI_CONTEXT | FI_CONTEXT2;
    wanted->ep_attr->type = FI_EP_RDM;
    wanted->domain_attr->threading = FI_THREAD_DOMAIN;
    wanted->domain_attr->mr_mode =
        FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    if (provider != nullptr) wanted->fabric_attr->prov_name = ::strdup(provider);
    fi_info* list = nullptr;
    const int status = fi_getinfo(version, nullptr, nullptr, 0, wanted.get(), &list);
    found = Infos{list, fi_freeinfo};
    return status;
}

/// A part of libfabric that `make` makes; the status of the first one that could not be made.
template <class T, class Make>
ssize_t open_one(Handle<T>& handle, Make&& make) {
    T* made = nullptr;
    const int status = make(&made);
    if (status == 0) handle.reset(made);
    return status;
}

} // namespace

std::vector<std::string> transports_found() {
    static const auto found = [] {
        std::vector<std::string> names;
        Infos infos{nullptr, fi_freeinfo};
        if (ask(nullptr, infos) == 0)
            for (const auto* info = infos.get(); info != nullptr; info = info->next)
                names.emplace_back(info->fabric_attr->prov_name);
        std::ranges::sort(names);
        names.erase(std::ranges::unique(names).begin(), names.end());
        return names;
    }();
    return found;
}

Wire::Wire(Use /*use*/, Way way, Context& context)
    : Meeting{way, context}, operations_(most_operations) {
    for (auto& operation : operations_) {
        operation.next = free_;
        free_ = &operation;
    }
    take_place(context);
    std::vector<std::byte> address;
    agree(open(way, address));
    agree(connect(swap(address)));
    agree(greet());
    part();
    is_open({{.transport = info_->fabric_attr->prov_name,
              .device = info_->domain_attr->name,
              .uses = {}}});
}

Wire::~Wire() {
    try {
        part();
    } catch (const std::exception&) { // NOLINT(bugprone-empty-catch)
        // MPI has failed: nobody is left to wait for.
    }
}

std::string Wire::open(Way way, std::vector<std::byte>& address) {
    Infos found{nullptr, fi_freeinfo};
    if (const auto status = ask(provider_of(way), found); status != 0)
        return with_choices("libfabric has no provider for it: " + text_of(status));
    info_.reset(fi_dupinfo(found.get()));
    if (!info_) return "libfabric has no memory";
    fi_av_attr for_addresses{};
    fi_cq_attr for_completions{};
    for_completions.format = FI_CQ_FORMAT_CONTEXT;
    for_completions.size = most_operations;
    auto status = open_one(
        fabric_, [&](auto** made) { return fi_fabric(info_->fabric_attr, made, nullptr); });
    if (status == 0)
        status = open_one(domain_, [&](auto** made) {
            return fi_domain(fabric_.get(), info_.get(), made, nullptr);
        });
    if (status == 0)
        status = open_one(addresses_, [&](auto** made) {
            return fi_av_open(domain_.get(), &for_addresses, made, nullptr);
        });
    if (status == 0)
        status = open_one(completions_, [&](auto** made) {
            return fi_cq_open(domain_.get(), &for_completions, made, nullptr);
        });
    if (status == 0)
        status = open_one(endpoint_, [&](auto** made) {
            return fi_endpoint(domain_.get(), info_.get(), made, nullptr);
        });
    if (status == 0) status = fi_ep_bind(endpoint_.get(), &addresses_->fid, 0);
    if (status == 0)
        status = fi_ep_bind(endpoint_.get(), &completions_->fid, FI_TRANSMIT | FI_RECV);
    if (status == 0) status = fi_enable(endpoint_.get());
    if (status != 0)
        return with_choices(joined("libfabric cannot open ", info_->fabric_attr->prov_name, " on ",
                                   info_->domain_attr->name, ": ", text_of(status)));
    std::size_t length = 0;
    fi_getname(&endpoint_->fid, nullptr, &length); // says how long it is
    address.resize(length);
    status = fi_getname(&endpoint_->fid, address.data(), &length);
    return status == 0 ? "" : "libfabric provides no address: " + text_of(status);
}

std::string Wire::connect(const std::vector<std::byte>& address) {
    const int added = fi_av_insert(addresses_.get(), address.data(), 1, &partner_, 0, nullptr);
    return added == 1 ? "" : with_choices("libfabric does not know the partner's address");
}

/// A first message there and one back, which open what the provider opens at first use.
std::string Wire::greet() {
    constexpr std::uint64_t tag = 11;
    Region words;
    if (auto problem = allocate(words, 2 * sizeof(Word), Where::host); !problem.empty())
        return problem;
    Pending pending{*this};
    receive({words, sizeof(Word), sizeof(Word)}, tag, pending);
    send({words, 0, sizeof(Word)}, tag, pending);
    const auto end = std::chrono::steady_clock::now() + patience;
    while (pending.count() > 0 && failure_ == 0 && std::chrono::steady_clock::now() < end)
        progress();
    std::string problem;
    if (pending.count() > 0 || failure_ != 0)
        problem = with_choices(joined(
            "libfabric does not reach the partner by ", info_->fabric_attr->prov_name, " on ",
            info_->domain_attr->name, ": ", text_of(failure_ != 0 ? failure_ : -FI_ETIMEDOUT)));
    if (pending.count() > 0) endpoint_.reset(); // nothing may come into words that are gone
    release(words);
    return problem;
}

std::string Wire::allocate(Region& region, std::size_t bytes, Where /*where*/) {
    void* const memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return joined("there are no ", bytes, " bytes of memory");
    ::madvise(memory, bytes, MADV_HUGEPAGE);
    region.data = static_cast<Word*>(memory);
    region.bytes = bytes;
    const auto needs = static_cast<std::uint64_t>(info_->domain_attr->mr_mode);
    constexpr std::uint64_t access =
        FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
    auto status = open_one(region.registered, [&](auto** made) {
        return fi_mr_reg(domain_.get(), memory, bytes, access, 0, ++regions_, 0, made, nullptr);
    });
    if (status == 0 && (needs & FI_MR_ENDPOINT) != 0) {
        status = fi_mr_bind(region.registered.get(), &endpoint_->fid, 0);
        if (status == 0) status = fi_mr_enable(region.registered.get());
    }
    return status == 0
               ? ""
               : joined("libfabric cannot register ", bytes, " bytes of memory: ", text_of(status));
}

void Wire::release(Region& region) {
    region.registered.reset();
    if (region.data != nullptr) ::munmap(region.data, region.bytes);
    region.data = nullptr;
}

std::string Wire::describe(const Region& region, std::vector<std::byte>& words) const {
    const bool by_address = (info_->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
    const std::array own{by_address ? reinterpret_cast<std::uint64_t>(region.data) : 0,
                         fi_mr_key(region.registered.get())};
    const auto bytes = std::as_bytes(std::span{own});
    words.assign(bytes.begin(), bytes.end());
    return {};
}

std::string Wire::adopt(Region& region, const std::vector<std::byte>& words) const {
    std::array<std::uint64_t, 2> theirs{};
    if (words.size() != sizeof theirs) return "libfabric gave the partner no key";
    std::memcpy(theirs.data(), words.data(), sizeof theirs);
    region.remote = theirs[0];
    region.key = theirs[1];
    return {};
}

template <class Call>
void Wire::begin(Pending& pending, Call&& call) noexcept {
    while (free_ == nullptr) progress();
    Operation* const operation = free_;
    free_ = operation->next;
    operation->pending = &pending;
    ++pending.count_;
    ++under_way_;
    ssize_t status = 0;
    while ((status = call(&operation->words)) == -FI_EAGAIN) progress();
    if (status >= 0) return;
    note(status);
    end(&operation->words);
}

void Wire::end(void* words) noexcept {
    auto* const operation = static_cast<Operation*>(words);
    --operation->pending->count_;
    --under_way_;
    operation->next = free_;
    free_ = operation;
}

namespace {
char* at(const Piece& piece) { return reinterpret_cast<char*>(piece.region.data) + piece.begin; }
void* token(const Piece& piece) { return fi_mr_desc(piece.region.registered.get()); }
} // namespace

void Wire::put(Piece from, Piece to, Pending& pending) noexcept {
    const iovec data{at(from), from.bytes};
    const fi_rma_iov there{to.region.remote + to.begin, from.bytes, to.region.key};
    void* owned = token(from);
    begin(pending, [&](void* words) {
        const fi_msg_rma message{&data, &owned, 1, partner_, &there, 1, words, 0};
        return fi_writemsg(endpoint_.get(), &message, FI_DELIVERY_COMPLETE | FI_COMPLETION);
    });
}

void Wire::get(Piece to, Piece from, Pending& pending) noexcept {
    begin(pending, [&](void* words) {
        return fi_read(endpoint_.get(), at(to), to.bytes, token(to), partner_,
                       from.region.remote + from.begin, from.region.key, words);
    });
}

void Wire::send(Piece from, std::uint64_t tag, Pending& pending) noexcept {
    begin(pending, [&](void* words) {
        return fi_tsend(endpoint_.get(), at(from), from.bytes, token(from), partner_, tag, words);
    });
}

void Wire::receive(Piece to, std::uint64_t tag, Pending& pending) noexcept {
    begin(pending, [&](void* words) {
        return fi_trecv(endpoint_.get(), at(to), to.bytes, token(to), FI_ADDR_UNSPEC, tag, 0,
                        words);
    });
}

void Wire::progress() noexcept {
    constexpr unsigned often = 256; // calls without news; then somebody else may need the core
    std::array<fi_cq_entry, 16> news;
    const ssize_t count = fi_cq_read(completions_.get(), news.data(), news.size());
    if (count > 0) {
        idle_ = 0;
        for (const auto& entry : std::span{news}.first(static_cast<std::size_t>(count)))
            end(entry.op_context);
    } else if (count == -FI_EAVAIL) {
        fi_cq_err_entry failed{};
        if (fi_cq_readerr(completions_.get(), &failed, 0) > 0) {
            note(-failed.err);
            if (failed.op_context != nullptr) end(failed.op_context);
        }
    } else if (++idle_ % often == 0) {
        ::sched_yield();
    }
}

void Wire::check() const {
    if (failure_ != 0)
        throw std::runtime_error{"an operation of libfabric failed: " + text_of(failure_)};
}

} // namespace assay::network
