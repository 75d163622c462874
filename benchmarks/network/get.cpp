// SPDX-License-Identifier: Apache-2.0
#include "one_sided.hpp"

namespace assay::network {
namespace {

struct Get {
    static constexpr Info info{
        .id = "network.get",
        .version = 1,
        .question = "How fast does one process read from the memory of another one?",
        .method =
            "ucp_get_nbx from registered memory into registered memory, always the same buffers, "
            "up to `window` messages under way; a call ends when all of them are there, and is "
            "so long that its end counts for little (as of network.put). Bandwidth is that of all "
            "pairs and directions together. The reader checks every word; the lanes that UCX "
            "opened, and what the kernel counted, prove the transport.",
        .caveats =
            "The same buffers again and again: messages that fit into a cache come from there. "
            "Over TCP UCX sends the data as messages, and the other processor takes part. Ranks on "
            "one machine map each other's memory, where a get is a copy by the reader.",
        .headline = "bandwidth",
        .place = place_of_data,
    };
    static constexpr bool gets = true;
    static ucs_status_ptr_t call(ucp_ep_h endpoint, const Memory& from, Memory& to,
                                 const ucp_request_param_t& done) noexcept {
        return ucp_get_nbx(endpoint, to.data(), to.bytes(), from.remote(), from.key(), &done);
    }
};

} // namespace

extern constinit const assay_benchmark get = define<OneSided<Get>>();

} // namespace assay::network
