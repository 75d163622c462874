// SPDX-License-Identifier: Apache-2.0
//
// Lines of plain text for a terminal: wrapped, indented, painted where there is colour.

#pragma once

#include "model/view.hpp"
#include "render/terminal.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::report {

/// SGR codes; the text around them is plain, so nothing else can start an escape sequence.
enum class Paint : std::uint8_t { bold, dim, red, yellow, green };

class Lines {
public:
    explicit Lines(const TerminalStyle& style);

    std::string paint(Paint paint, std::string_view text) const;
    void line(std::string_view text = "");
    /// An empty line and `text` in bold.
    void heading(std::string_view text);
    /// `text` wrapped behind `first`, later lines indented to the same column.
    void paragraph(std::string_view first, std::size_t indent, std::string_view text,
                   bool dim = false);
    void facts(const std::vector<Fact>& facts);
    std::size_t width() const { return width_; }
    std::string take() { return std::move(out_); }

private:
    std::size_t width_;
    bool colour_;
    std::string out_;
};

} // namespace assay::report
