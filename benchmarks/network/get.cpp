// SPDX-License-Identifier: Apache-2.0
#include "one_sided.hpp"

namespace assay::network {
namespace {

struct Get {
    static constexpr Info info{
        .id = "network.get",
        .version = 1,
        .question = "How fast does one process read from the memory of another?",
        .method =
            "Gets (ucp_get_nbx; in ofi fi_read) between registered buffers, always the same, up to "
            "`window` outstanding; "
            "a call ends when all have arrived and is long enough to make its end negligible (as "
            "in network.put). Bandwidth is that of all pairs and directions together. The reader "
            "checks every word; the library's lanes and kernel counters prove the transport.",
        .caveats =
            "The buffers are reused: messages that fit in a cache come from the cache. Over TCP "
            "the library sends the data as messages, and the remote processor takes part. Ranks "
            "on one machine map each other's memory: a get is a copy by the reader. Over a bond "
            "a pair has one member's rate, except in mode balance-rr.",
        .headline = "bandwidth",
        .place = place_of_data,
        .bound = Bound::network,
        .noise = Noise::messages,
    };
    static constexpr bool gets = true;
    static void call(Wire& wire, const Memory& from, const Memory& to, Pending& pending) noexcept {
        wire.get(to.all(), from.all(), pending);
    }
};

} // namespace

extern constinit const assay_benchmark get = define<OneSided<Get>>();

} // namespace assay::network
