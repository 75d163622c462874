// SPDX-License-Identifier: Apache-2.0
//
// A loaded shared library of benchmarks. All reads go through here, so that a module built with an
// older interface (smaller structs) is read safely: missing fields are zero.

#pragma once

#include "base/result.hpp"
#include "plan/manifest.hpp"

#include <assay/module.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace assay::worker {

/// A copy in our layout of a struct that begins with its size: fields the module does not have are 0.
template <class T>
T copy_of(const void* source) {
    std::uint32_t size = 0;
    std::memcpy(&size, source, sizeof size);
    T copy{};
    std::memcpy(&copy, source, std::min<std::size_t>(size, sizeof copy));
    copy.struct_size = sizeof copy;
    return copy;
}

class Module {
public:
    /// Loads the library and checks its interface version. A missing dependency is an environment error, an invalid
    /// module a usage error.
    static Result<Module> load(const std::filesystem::path& path);

    /// In the layout of this program whatever the module was built with; so are the benchmarks,
    /// parameters and tunings it points to. Valid for the life of the process: a module is never
    /// unloaded, because thread pools of its libraries would lose their code.
    const assay_module_v1& table() const;
    /// Null for an unknown id.
    const assay_benchmark* find(std::string_view id) const;
    const std::filesystem::path& path() const;

private:
    struct State;
    explicit Module(std::shared_ptr<const State> state);
    std::shared_ptr<const State> state_;
};

/// Id of its file, and of what else its table was made from.
Result<std::string> build_id(const Module& module);

/// The module's manifest, checked by check_manifest.
Result<plan::Manifest> describe(const Module& module);

// --- build id ------------------------------------------------------------------------------------
// Which build of a module is this? A rebuilt module gets another id, so that a run is not continued
// with other code than it began with.

/// The linker's build id of the loaded library that holds `address`, in hexadecimal; a hash of the
/// bytes of `file` where it has none.
Result<std::string> build_id(const std::filesystem::path& file, const void* address);

} // namespace assay::worker
