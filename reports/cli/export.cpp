// SPDX-License-Identifier: Apache-2.0

#include "export/csv.hpp"
#include "export/gbench.hpp"
#include "files.hpp"
#include "json/json.hpp"
#include "record/reader.hpp"
#include "report/input.hpp"
#include "report/text.hpp"
#include "verbs.hpp"

#include <string>

namespace assay::report {

Result<ExitCode> export_run(const Options& options) {
    const auto inputs = find_inputs(options.inputs);
    if (!inputs) return tl::unexpected{inputs.error()};
    if (auto fine = check_output(options.out, *inputs); !fine) return tl::unexpected{fine.error()};
    const auto run = record::read_run(inputs->front().file);
    if (!run) return tl::unexpected{run.error()};
    const std::string content = options.format == "csv" ? to_csv(*run) : to_gbench(*run);
    if (auto done = write(options.out.empty() ? "-" : options.out, content); !done)
        return tl::unexpected{done.error()};
    const bool to_file = !options.out.empty() && options.out != "-";
    if (options.json && to_file)
        if (auto done = print(json::to_text({{"schema", "assay.export/1"},
                                             {"from", plain(inputs->front().file.string())},
                                             {"format", options.format},
                                             {"file", plain(options.out.string())}}));
            !done)
            return tl::unexpected{done.error()};
    return ExitCode::done;
}

} // namespace assay::report
