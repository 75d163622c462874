// SPDX-License-Identifier: Apache-2.0
//
// Lines of plain text for a terminal: wrapped, indented, painted where there is colour.

#pragma once

#include "base/terminal.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::write {

class Lines {
public:
    explicit Lines(Terminal terminal);

    std::string paint(Paint paint, std::string_view text) const {
        return assay::paint(terminal_, paint, text);
    }
    void line(std::string_view text = "");
    /// An empty line and `text` in bold.
    void heading(std::string_view text);
    /// `text` wrapped behind `first`, later lines indented to the same column.
    void paragraph(std::string_view first, std::size_t indent, std::string_view text,
                   bool dim = false);
    std::size_t width() const { return terminal_.width; }
    std::string take() { return std::move(out_); }

private:
    Terminal terminal_;
    std::string out_;
};

} // namespace assay::write
