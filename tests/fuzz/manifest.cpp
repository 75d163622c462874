// SPDX-License-Identifier: Apache-2.0
//
// A manifest that is accepted keeps the promises of check_manifest and stays inside its folder.
#include "plan/manifest.hpp"

#include "fuzz.hpp"
#include "plan/parameter.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    const auto manifest = plan::parse_manifest(fuzz::text(data, size), "/folder/input.json");
    if (fuzz::refused(manifest, "/folder/input.json")) return 0;
    fuzz::expect(manifest->library.parent_path() == "/folder");
    for (const auto& benchmark : manifest->benchmarks)
        for (const auto& parameter : benchmark.parameters)
            for (const auto& value : parameter.defaults)
                fuzz::expect(plan::check_value(parameter, value).has_value());
    return 0;
}
