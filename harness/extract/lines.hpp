// SPDX-License-Identifier: Apache-2.0
//
// Lines of an output, as its program wrote them: without what launchers, logs
// and terminals add.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay::extract {

/// A launcher's label in front of a line, of mpirun --tag-output, mpiexec
/// -prepend-rank or srun --label.
struct Labelled {
    std::string_view label; ///< "[1,0]", "[0]", "0"; empty: none
    std::string_view rest;
    bool certain = false; ///< nothing else looks like it
};
Labelled take_label(std::string_view line);

/// The lines of a text that are not blank, each with its number as people
/// count, without launchers' labels. Lines of one label stay together: copies
/// of a tool that ran at the same time are read one after the other.
class InputLines {
public:
    explicit InputLines(std::string_view text);

    /// Goes to the next one; false at the end.
    bool next();
    std::string_view content() const { return content_; } ///< trimmed; a very long line is cut
    std::size_t number() const { return number_; }
    std::size_t indent() const { return indent_; } ///< blanks in front of it
    std::string where() const;                     ///< "line 7"

private:
    struct Line {
        std::string_view content;
        std::size_t number;
        std::size_t label;
        std::size_t indent;
    };
    void sort_by_label(std::string_view text, bool by_host, bool only_certain);

    std::string cleaned_; ///< where the text has more than lines
    std::string_view rest_;
    std::vector<Line> sorted_; ///< of a text with labels
    std::size_t at_ = 0;
    std::string_view content_;
    std::size_t number_ = 0;
    std::size_t indent_ = 0;
};

} // namespace assay::extract
