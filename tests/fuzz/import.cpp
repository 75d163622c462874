// SPDX-License-Identifier: Apache-2.0
//
// Whatever a file holds, every reader of other tools' results makes a run that can be written, read and
// found consistent, or says in one message what is wrong.
#include "import/import.hpp"

#include "decide/check.hpp"
#include "fuzz.hpp"
#include "record/convert.hpp"
#include "record/reader.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    const auto text = fuzz::text(data, size);
    for (const auto& name : imports::tools()) {
        const auto import = imports::import_text(
            text, "input", {.from = name, .name = "all_reduce", .cases = 1000});
        if (!import) {
            fuzz::expect(import.error().message.starts_with("input"));
            continue;
        }
        const auto written = record::to_text(import->run);
        const auto again = record::parse_run(written, "again", {.as_stored = true});
        fuzz::expect(again && record::to_text(*again) == written);
        fuzz::expect(decide::check_summaries(*again).empty());
    }
    static_cast<void>(imports::import_text(text, "input"));
    return 0;
}
