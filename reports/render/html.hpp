// SPDX-License-Identifier: Apache-2.0
//
// Reports as one self-contained page: no script, no reference to anything outside, made to be read on
// a screen, on a telephone and on paper. A Content-Security-Policy forbids scripts even where an
// escape would be missing.

#pragma once

#include "model/view.hpp"

#include <span>
#include <string>
#include <string_view>

namespace assay::report {

std::string to_html(std::span<const Report> reports);

/// A report's first line; nothing where there is none.
std::string cause_html(std::string_view cause);
/// The frame of every static page: language, style, and a policy that lets nothing else in.
std::string html_page(const std::string& title, const std::string& body);

} // namespace assay::report
