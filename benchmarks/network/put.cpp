// SPDX-License-Identifier: Apache-2.0
#include "one_sided.hpp"

namespace assay::network {
namespace {

struct Put {
    static constexpr Info info{
        .id = "network.put",
        .version = 1,
        .question = "How fast does one process write to the memory of another?",
        .method =
            "Puts (ucp_put_nbx; in ofi fi_writemsg) between registered buffers, always the same, "
            "up to `window` outstanding; "
            "a call ends when all have arrived. It lasts 300 times as long as "
            "an empty call and has 100 full windows, or lasts a quarter of a second, so that its "
            "end is negligible. Bandwidth is that of all pairs and directions together. The "
            "receiver checks every word; the library's lanes and kernel counters prove the "
            "transport.",
        .caveats =
            "The buffers are reused: messages that fit in a cache come from the cache. Over TCP "
            "the receiver's processor takes part. Ranks on one machine map each other's memory: "
            "a put is a copy by the sender. Over a bond a pair has one member's rate, except in "
            "mode balance-rr.",
        .headline = "bandwidth",
        .place = place_of_data,
        .bound = Bound::network,
        .noise = Noise::messages,
    };
    static constexpr bool gets = false;
    static void call(Wire& wire, const Memory& from, const Memory& to, Pending& pending) noexcept {
        wire.put(from.all(), to.all(), pending);
    }
};

} // namespace

extern constinit const assay_benchmark put = define<OneSided<Put>>();

} // namespace assay::network
