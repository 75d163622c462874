// SPDX-License-Identifier: Apache-2.0
#include "places.hpp"

#include "base/file.hpp"
#include "process/start.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib> // mkdtemp is POSIX, and in it
#include <system_error>

namespace assay::gpu {

namespace fs = std::filesystem;

Tree find_tree() {
    std::error_code error;
    const auto own = fs::read_symlink("/proc/self/exe", error).parent_path();
    const bool packed = fs::exists(own / "../../../bin/assay", error);
    const auto root = fs::weakly_canonical(own / (packed ? "../../.." : ".."));
    return {.assay = root / "bin/assay",
            .contract = own / "module_contract",
            .modules = root / "lib/assay",
            .data = packed ? own : fs::path{GPU_CHECK_DATA}};
}

std::string found(const std::string& program) {
    if (program.find('/') != program.npos) return program;
    const char* path = std::getenv("PATH");
    return process::find_program(program,
                                 fmt::format("{}:/usr/local/cuda/bin", path == nullptr ? "" : path))
        .string();
}

std::string text_of(const fs::path& path, std::size_t most) {
    return read_whole(path, most).value_or("");
}

std::string file_name(std::string name) {
    std::ranges::replace_if(name, [](char c) { return c == '/' || c == ' ' || c == '['; }, '_');
    std::erase_if(name, [](char c) { return c == ']' || c == ','; });
    return name;
}

bool may_have_device() {
    std::error_code error;
    return fs::exists("/dev/nvidiactl", error) || fs::exists("/dev/dxg", error) ||
           !found("nvidia-smi").empty();
}

fs::path make_work_folder(const fs::path& out) {
    std::error_code error;
    for (const auto& below : {fs::temp_directory_path(error), out}) {
        auto pattern = (below / "gpu-check-XXXXXX").string();
        if (::mkdtemp(pattern.data()) != nullptr) return pattern;
    }
    return {};
}

} // namespace assay::gpu
