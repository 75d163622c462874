// SPDX-License-Identifier: Apache-2.0
#include "one_sided.hpp"

namespace assay::network {
namespace {

struct Put {
    static constexpr Info info{
        .id = "network.put",
        .version = 1,
        .question = "How fast does one process write into the memory of another one?",
        .method =
            "ucp_put_nbx from registered memory into registered memory, always the same buffers, "
            "up to `window` messages under way; a call ends when all of them are there "
            "(ucp_ep_flush_nbx). It lasts 300 times as long as one without messages and has 100 "
            "full "
            "windows, or lasts a quarter of a second: so its end counts for little. Bandwidth is "
            "that of all pairs and directions together. The receiver checks every word; the lanes "
            "that UCX opened, and what the kernel counted, prove the transport.",
        .caveats =
            "The same buffers again and again: messages that fit into a cache come from there. "
            "Over TCP the receiver's processor takes part. Ranks on one machine map each other's "
            "memory, where a put is a copy by the sender.",
        .headline = "bandwidth",
        .place = place_of_data,
    };
    static constexpr bool gets = false;
    static ucs_status_ptr_t call(ucp_ep_h endpoint, Memory& from, const Memory& to,
                                 const ucp_request_param_t& done) noexcept {
        return ucp_put_nbx(endpoint, from.data(), from.bytes(), to.remote(), to.key(), &done);
    }
};

} // namespace

extern constinit const assay_benchmark put = define<OneSided<Put>>();

} // namespace assay::network
