// SPDX-License-Identifier: Apache-2.0
//
// Which operating system, and what were we built with?

#pragma once

#include "machine/files.hpp"
#include "record/model.hpp"

#include <string>

namespace assay::machine {

std::string operating_system(const Files& files); ///< "Debian GNU/Linux 12 (bookworm)"
std::string kernel_release(const Files& files);   ///< "6.1.0-18-amd64"
std::string architecture();                       ///< "x86_64"
std::string host_name();
/// Differs between machines, between boots of one, and between networks of one (containers).
std::string boot_identity();

/// The C library this process runs with, and the compiler that built it.
record::NamedList own_software();

} // namespace assay::machine
