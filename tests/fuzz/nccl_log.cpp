// SPDX-License-Identifier: Apache-2.0
//
// NCCL's log comes from a library of any version, cut off anywhere: whatever it holds, what is read from it
// are words and small numbers, and half a line says nothing.
#include "collective/nccl_log.hpp"

#include "fuzz.hpp"

#include <algorithm>
#include <string>

namespace {

using namespace assay;
using namespace assay::collective;

bool is_word(const std::string& text) {
    return text.size() <= 40 && std::ranges::all_of(text, [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                      c == '_';
           });
}

bool is_sentence(const std::string& text) {
    return text.size() < 300 &&
           std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto text = fuzz::text(data, size);
    const auto log = read_nccl_log(text);
    for (const auto& word : {log.link, log.algorithm, log.protocol, log.kernel})
        fuzz::expect(is_word(word));
    fuzz::expect(log.channels >= 0 && log.channels <= 4096);
    fuzz::expect(log.kernel.empty() || (log.algorithm.empty() && log.protocol.empty()));
    fuzz::expect(is_sentence(path_of(log)));
    fuzz::expect(is_sentence(net_plugin_of(log)) && log.plugins.loaded.size() <= 8);

    const auto whole = text.substr(0, text.rfind('\n') + 1);
    const auto same = read_nccl_log(whole);
    fuzz::expect(same.algorithm == log.algorithm && same.kernel == log.kernel &&
                 path_of(same) == path_of(log) && net_plugin_of(same) == net_plugin_of(log));

    for (const auto& way : way_names)
        for (const auto& algorithm : algorithm_names) {
            const NcclChoice asked{.way = way.value, .algorithm = algorithm.value};
            fuzz::expect(is_sentence(contradiction(asked, log)));
            fuzz::expect(is_sentence(unproved(asked, log)));
            const auto expected = expected_of_nvlink(asked, log, 1000, 1);
            fuzz::expect(!expected.least || !expected.most);
        }
    return 0;
}
