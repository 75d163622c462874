// SPDX-License-Identifier: Apache-2.0
#include "record/writer.hpp"

#include "base/file.hpp"
#include "record/convert.hpp"

namespace assay::record {

std::string to_text(const Run& run) { return json::to_text(to_json(run)); }

Result<void> write_run(const std::filesystem::path& path, const Run& run) {
    return write_atomically(path, to_text(run));
}

} // namespace assay::record
