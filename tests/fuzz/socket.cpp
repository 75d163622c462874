// SPDX-License-Identifier: Apache-2.0
//
// What a worker may send, and what people write of where workers are: the bytes are cut into lines however they arrive, and a line that is accepted
// as a message can be sent again and means the same.
#include "fuzz.hpp"
#include "launch/team.hpp"
#include "plan/hosts.hpp"
#include "process/channel.hpp"
#include "process/message.hpp"

#include <algorithm>
#include <string>
#include <vector>

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    constexpr std::size_t limit = 4096; // bytes: small, so that it is reached
    std::string_view bytes = fuzz::text(data, size);
    // The first byte says in which pieces the rest arrives.
    const std::size_t piece = bytes.empty() ? 1 : 1 + static_cast<unsigned char>(bytes.front());
    process::LineBuffer buffer{limit};
    std::vector<std::string> lines;
    while (!bytes.empty() && buffer.feed(bytes.substr(0, piece), lines))
        bytes.remove_prefix(std::min(piece, bytes.size()));
    for (const auto& line : lines) {
        fuzz::expect(line.size() <= limit);
        (void)process::message::parse_to_worker(line);
        const auto message = process::message::parse_from_worker(line);
        if (!message) continue;
        const auto again = process::message::to_line(*message);
        const auto back = process::message::parse_from_worker(again);
        fuzz::expect(back.has_value());
        fuzz::expect(process::message::to_line(*back) == again);
    }
    const auto text = fuzz::text(data, size);
    if (const auto hosts = plan::parse_hosts(text))
        for (const auto& host : *hosts)
            fuzz::expect(!host.name.empty() && host.name.find_first_of("[],") == host.name.npos);
    (void)launch::repeated_counts(text);
    if (const auto address = process::parse_address(text))
        fuzz::expect(process::parse_address(process::to_text(*address)).has_value());
    if (const auto hosts = plan::parse_hostfile(text, "hosts"))
        for (const auto& host : *hosts)
            fuzz::expect(!host.name.empty() && host.name[0] != '-' && host.slots >= 0);
    return 0;
}
