// SPDX-License-Identifier: Apache-2.0
//
// Lines of a text by the rules of a dialect. A table ends where its shape ends; facts hold until the next output,
// whether they stand in front of a title or behind it; an output ends where a part of its head comes again.

#include "import/output.hpp"

#include "base/utc.hpp"
#include "extract/lines.hpp"
#include "extract/said.hpp"
#include "import/figures.hpp"
#include "json/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace assay::imports {

std::string_view text_of(const Fields& fields, std::string_view name) {
    const auto found = fields.find(name);
    return found == fields.end() ? std::string_view{} : std::string_view{found->second};
}

std::string filled(std::string_view text, const Fields& fields) {
    std::string out;
    while (true) {
        const auto open = text.find('{');
        const auto close = open == std::string_view::npos ? open : text.find('}', open);
        out += text.substr(0, close == std::string_view::npos ? close : open);
        if (close == std::string_view::npos) return out;
        const auto inner = text.substr(open + 1, close - open - 1);
        const auto bar = inner.find('|');
        const auto value = text_of(fields, inner.substr(0, bar));
        const auto filter = bar == std::string_view::npos ? "" : inner.substr(bar + 1);
        const auto code = integer_of(value).value_or(0);
        if (filter == "word")
            out += word_of(value);
        else if (filter == "utc")
            out += utc_of(static_cast<double>(code));
        else if (filter == "nccl" && code > 0)
            out += nccl_version(code);
        else if (filter == "cuda" && code >= 1000) // "12040" is CUDA 12.4
            out += fmt::format("{}.{}", code / 1000, code % 1000 / 10);
        else
            out += value;
        text.remove_prefix(close + 1);
    }
}

namespace {

class Reader {
public:
    Reader(std::string_view source, const Dialect& dialect, Draft& draft, const Take& take)
        : source_{source}, dialect_{dialect}, draft_{draft}, take_{take} {}

    Result<void> read(std::string_view text) {
        find_commands(text);
        for (InputLines lines{text}; !draft_.is_full() && lines.next();) {
            number_ = lines.number();
            ASSAY_TRY(line(lines.content(), lines.indent()));
        }
        if (!text.ends_with('\n') && !text.ends_with('\r')) drop_cut_row();
        return finish();
    }

private:
    /// A number that ends with the file may lack digits: "12" of "123.45".
    void drop_cut_row() {
        if (table_.rule == nullptr || table_.row != number_ || table_.last_cells.size() < 2) return;
        const auto decimals = [](std::string_view cell) {
            const auto point = cell.rfind('.');
            return point == std::string_view::npos ? 0 : cell.size() - point;
        };
        const auto& before = table_.last_cells[0];
        const auto& last = table_.last_cells[1];
        if (decimals(last) >= decimals(before)) return;
        draft_.skip(where(), last, "incomplete row at the end of the file");
        std::erase_if(output_.records, [&](const Record& r) { return r.where == where(); });
    }

    struct Table {
        const TableRule* rule = nullptr;
        std::vector<std::string> titles;
        std::vector<const Column*> columns;
        bool is_known = true; ///< every column is
        char separator = ',';
        std::size_t row = 0;                 ///< line of the last one
        std::vector<std::string> last_cells; ///< of the last two rows
    };

    /// In the order of the file: a shell's lines have no launcher's label.
    void find_commands(std::string_view text) {
        if (dialect_.command.empty()) return;
        std::size_t number = 0;
        while (!text.empty()) {
            const auto content = trimmed(take_label(take_line(text)).rest);
            ++number;
            Map groups;
            if (dialect_.command_end.matches(content) || dialect_.command.match(content, groups))
                commands_[number] = std::move(groups);
        }
    }

    std::string where() const { return fmt::format("line {}", number_); }
    tl::unexpected<Error> refused(const std::string& why) const {
        return fail(fmt::format("{}: {}: {}", source_, where(), why));
    }
    void told(std::string_view what) {
        if (draft_.options().explained != nullptr) draft_.explain(where(), what);
    }

    /// A part of an output's head; the first of another output where it does not follow.
    Result<void> begin(int part, bool repeats) {
        if (part == 0) return {};
        // Lists of other hosts may come late, behind the titles.
        const bool follows =
            part > part_ || (repeats && (part == part_ || output_.records.empty()));
        if (!follows || part_ == 0) {
            // Facts in front of the first title are of the output that begins.
            if (part_ != 0 || !output_.records.empty()) ASSAY_TRY(finish());
            output_.where = where();
            const auto next = commands_.lower_bound(number_);
            if (next != commands_.begin())
                for (const auto& [name, value] : std::prev(next)->second)
                    output_.facts[name] = value;
            draft_.begin_process(where());
        }
        part_ = follows ? std::max(part, part_) : part;
        return {};
    }

    /// Tools that print a verdict on their data print it at the end.
    void note_missing_verdict() {
        const auto is_checked = [](const auto& part) {
            return !part.right.empty() || !part.wrong.empty();
        };
        if (!output_.records.empty() && !is_checked(output_) &&
            std::ranges::any_of(dialect_.lines, &LineRule::right) &&
            std::ranges::none_of(output_.records, is_checked))
            draft_.note("the output has no verdict on its data (it may be incomplete): its values "
                        "are not verified");
    }

    Result<void> finish() {
        note_missing_verdict();
        auto output = std::exchange(output_, {});
        part_ = 0;
        ended_ = 0;
        table_ = {};
        matrix_ = nullptr;
        keys_.clear();
        indents_.clear();
        return take_(output);
    }

    Record* open_block() {
        return output_.records.empty() || !output_.records.back().is_block
                   ? nullptr
                   : &output_.records.back();
    }

    Result<void> open(Fields fields, std::string_view text, bool is_block) {
        if (ended_ > 0)
            return refused(
                fmt::format("results follow the end of another output at line {}: outputs of "
                            "two jobs are mixed; put each into its own file",
                            ended_));
        constexpr std::size_t shown = 200; // bytes
        constexpr std::size_t most = 200'000;
        if (output_.records.size() == most)
            return refused(fmt::format("more than {} results in one output; split the file", most));
        fields.insert(output_.facts.begin(), output_.facts.end());
        output_.records.push_back({.fields = std::move(fields),
                                   .where = where(),
                                   .text = std::string{text.substr(0, shown)},
                                   .is_block = is_block});
        return {};
    }

    Result<void> line(std::string_view content, std::size_t indent) {
        std::string blanks; // rules know no tabs
        auto text = content;
        if (content.find('\t') != std::string_view::npos) {
            blanks = content;
            std::ranges::replace(blanks, '\t', ' ');
            text = blanks;
        }
        // Other programs write between its rows, too.
        const auto* const matrix = std::exchange(matrix_, nullptr);
        if (matrix != nullptr && matrix->matches(text) && fits_matrix(text)) {
            told("row of a matrix");
            auto& rows = output_.records.back().fields["matrix"];
            rows += rows.empty() ? "" : "\n";
            rows += text;
            matrix_ = matrix;
            return {};
        }
        for (const auto& rule : dialect_.tables)
            if (rule.titles.matches(text)) return titles(rule, content);
        bool is_read = false;
        for (const auto& rule : dialect_.lines) {
            Map groups;
            if (!rule.line.match(text, groups) || is_known(rule)) continue;
            rule.each.find_all(text, groups);
            ASSAY_TRY(apply(rule, groups, text));
            is_read = true;
            if (!rule.more) return {};
        }
        if (is_read || commands_.contains(number_)) return {};
        for (const auto& pattern : dialect_.ignore)
            if (pattern.matches(text)) return told("passed over"), Result<void>{};
        if (table_.rule != nullptr) {
            ASSAY_TRY(const bool is_row, row(content, text));
            if (is_row) return {};
        }
        is_noisy_ = matrix != nullptr;
        matrix_ = matrix;
        Map pair;
        if (dialect_.pairs.match(text, pair)) return add_pair(pair, indent), Result<void>{};
        hear(text);
        return {};
    }

    /// Behind a line of another program a row has as many words as the one above, or one more than the titles.
    bool fits_matrix(std::string_view text) const {
        const auto rows = text_of(output_.records.back().fields, "matrix");
        if (!is_noisy_ || rows.empty()) return true;
        const auto above = words_of(rows.substr(rows.rfind('\n') + 1)).size();
        const auto words = words_of(text).size();
        return words == above || words == above + 1;
    }

    bool is_known(const LineRule& rule) {
        if (rule.unless.empty()) return false;
        const auto* block = rule.record ? open_block() : nullptr;
        return !text_of(block != nullptr ? block->fields : output_.facts, rule.unless).empty();
    }

    /// Finds reports of errors in lines that no rule reads.
    void hear(std::string_view text) {
        const bool is_wrong = says_wrong(text);
        if (is_wrong || says_trouble(text)) {
            constexpr std::size_t shown = 160; // bytes
            const auto said = json::show_text(trimmed(text), shown);
            auto* block = open_block();
            auto& wrong = block != nullptr ? block->wrong : output_.wrong;
            if (is_wrong && wrong.empty()) wrong = said;
            if (!is_wrong && block != nullptr && block->trouble.empty()) block->trouble = said;
            draft_.note("the output reports " + said, !is_wrong);
            told(is_wrong ? "reports wrong data" : "reports an error");
        } else {
            told("not read by any rule");
        }
        if (dialect_.strict)
            draft_.skip(where(), text,
                        has_titles_ ? "not a row of a known table" : "before any line of titles",
                        !has_titles_);
    }

    Result<void> apply(const LineRule& rule, const Map& groups, std::string_view text) {
        ASSAY_TRY(begin(rule.begin, rule.lists));
        if (rule.end && ended_ > 0)
            return refused(
                fmt::format("a second end of output, after line {}: outputs of two jobs are "
                            "mixed; put each into its own file",
                            ended_));
        if (!rule.skip.empty()) draft_.skip(where(), text, rule.skip);
        Fields found;
        for (const auto& [name, value] : groups) found[name] = trimmed(value);
        auto known = found;
        known.insert(output_.facts.begin(), output_.facts.end());
        for (const auto& [name, value] : rule.set) found[name] = filled(value, known);
        if (!rule.note.empty()) draft_.note(filled(rule.note, known));
        told(found.empty() ? "known" : fmt::format("{}", fmt::join(found, ", ")));
        if (rule.lists) return add_to_list(rule, std::move(found));
        if (rule.opens) {
            ASSAY_TRY(open(found, text, true));
            output_.records.back().process = rule.process;
        }
        auto* block = rule.record || rule.opens ? open_block() : nullptr;
        if (rule.record && block == nullptr && !output_.records.empty())
            block = &output_.records.back();
        auto& fields = block != nullptr ? block->fields : output_.facts;
        if (!rule.opens)
            for (auto& [name, value] : found) fields[name] = std::move(value);
        auto& wrong = block != nullptr ? block->wrong : output_.wrong;
        auto& right = block != nullptr ? block->right : output_.right;
        if (rule.wrong && wrong.empty()) wrong = text.substr(0, 120);
        if (rule.right) right = text.substr(0, 120);
        if (!rule.matrix.empty() && block != nullptr) {
            matrix_ = &rule.matrix;
            is_noisy_ = false;
            block->fields.erase("matrix");
            if (rule.head) block->fields["matrix"] = text;
        }
        if (rule.end) ended_ = number_;
        return {};
    }

    Result<void> add_to_list(const LineRule& rule, Fields found) {
        const auto key = std::string{text_of(found, rule.key)};
        if (!rule.key.empty()) {
            const auto [entry, is_new] = keys_.try_emplace(key, number_);
            if (!is_new)
                return refused(
                    fmt::format("{} {} is listed twice, first at line {}: outputs of two jobs "
                                "may be mixed; put each into its own file",
                                rule.key, key, entry->second));
        }
        output_.lists[rule.key].push_back(std::move(found));
        return {};
    }

    void add_pair(const Map& pair, std::size_t indent) {
        std::string key{trimmed(value_in(pair, "key"))};
        const auto value = trimmed(value_in(pair, "value"));
        if (dialect_.nested) {
            while (!indents_.empty() && indents_.back().first >= indent) indents_.pop_back();
            const auto above = indents_.empty() ? "" : indents_.back().second + "::";
            key = above + key;
            indents_.emplace_back(indent, key);
        }
        told(fmt::format("{}={}", key, value));
        constexpr std::size_t most = 10'000;
        if (output_.facts.size() < most) output_.facts.try_emplace(key, value);
    }

    // --- tables ----------------------------------------------------------------------------------

    std::vector<std::string> cells_of(std::string_view text, std::string_view split_by) const {
        std::vector<std::string> cells;
        const auto take = [&](const auto& parts) {
            for (const auto part : parts)
                if (part != ":") cells.emplace_back(part);
        };
        if (split_by == "bars") {
            if (text.size() < 2 || !text.starts_with('|') || !text.ends_with('|')) return {};
            for (const auto part : split(text.substr(1, text.size() - 2), "|"))
                cells.emplace_back(trimmed(part));
        } else if (split_by == "csv") {
            for (const auto part : extract::cells_of(text, table_.separator))
                cells.push_back(unquoted(part));
        } else {
            take(split_by == "words" ? words_of(text) : columns_of(text));
        }
        return cells;
    }

    Result<void> titles(const TableRule& rule, std::string_view text) {
        ASSAY_TRY(begin(rule.begin, false));
        table_ = {.rule = &rule};
        has_titles_ = true;
        if (const auto at = text.find_first_of(",;\t"); at != std::string_view::npos)
            table_.separator = text[at];
        auto line = text;
        if (line.starts_with('#')) line = trimmed(line.substr(1));
        std::string section; // "per Rank: Max" begins one
        for (auto& title : cells_of(line, rule.split)) {
            if (title.size() > 1 && title.ends_with(':')) {
                section = title + ' ';
                continue;
            }
            if (const auto colon = title.find(": "); colon != std::string::npos)
                section = title.substr(0, colon + 2);
            else
                title = section + title;
            const auto column = std::ranges::find_if(
                rule.columns, [&](const Column& c) { return c.title.matches(title); });
            table_.columns.push_back(column == rule.columns.end() ? nullptr : &*column);
            if (column == rule.columns.end()) {
                table_.is_known = false;
                draft_.skip(
                    where(), text,
                    fmt::format("unknown column {}: the table was not read; describe the column "
                                "in a file in {}",
                                json::show_text(title), path_variable));
            } else if (!column->note.empty()) {
                draft_.note(filled(column->note, {{"title", title}}));
            }
            table_.titles.push_back(std::move(title));
        }
        told(fmt::format("titles: {}", fmt::join(table_.titles, " | ")));
        for (const auto& [name, value] : rule.set) output_.facts[name] = value;
        return {};
    }

    /// False if it is not a row.
    Result<bool> row(std::string_view text, std::string_view blanks) {
        const auto& rule = *table_.rule;
        if (!rule.row.empty() && !rule.row.matches(blanks)) return false;
        auto cells = cells_of(text, rule.split);
        auto titles = table_.titles;
        auto columns = table_.columns;
        const auto fit = [&] {
            for (std::size_t i = 0; i < columns.size() && cells.size() > titles.size(); ++i)
                if (columns[i] != nullptr && columns[i]->words > 1 && i + 1 < cells.size()) {
                    cells[i] += " " + cells[i + 1];
                    cells.erase(cells.begin() + static_cast<std::ptrdiff_t>(i) + 1);
                }
            for (std::size_t i = 0; i < columns.size() && cells.size() < titles.size();)
                if (columns[i] != nullptr && columns[i]->may_be_empty) {
                    columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(i));
                    titles.erase(titles.begin() + static_cast<std::ptrdiff_t>(i));
                } else {
                    ++i;
                }
            return cells.size() == titles.size();
        };
        if (rule.split == "columns" && cells.size() != titles.size()) {
            cells.clear(); // titles hold blanks, cells most often do not
            for (const auto word : words_of(text)) cells.emplace_back(word);
        }
        if (cells.empty()) return false;
        const auto count = cells.size();
        if (!fit()) {
            const bool is_like = !rule.row.empty() || number_of(cells.front()).has_value();
            if (!is_like) {
                if (!dialect_.strict) table_ = {}; // its shape ends here
                return false;
            }
            draft_.skip(where(), text,
                        fmt::format("{} values under {} titles", count, table_.titles.size()));
            return true;
        }
        if (!table_.is_known) return true;
        ASSAY_TRY(add_rows(cells, titles, columns, text));
        return true;
    }

    Result<void> add_rows(const std::vector<std::string>& cells,
                          const std::vector<std::string>& titles,
                          const std::vector<const Column*>& columns, std::string_view text) {
        const auto& rule = *table_.rule;
        std::map<std::string_view, std::size_t> times;
        for (const auto* column : columns) ++times[column->field]; // titles by "*" come once
        const std::size_t copies = std::max<std::size_t>(rule.repeated.size(), 1);
        for (std::size_t copy = 0; copy < copies; ++copy) {
            Fields fields;
            std::map<std::string_view, std::size_t> seen;
            bool is_there = copy == 0;
            for (std::size_t i = 0; i < cells.size(); ++i) {
                const auto& field = columns[i]->field == "*" ? titles[i] : columns[i]->field;
                const auto place = seen[field]++;
                if (field.empty() || (copies > 1 && times[field] > 1 && place != copy)) continue;
                is_there = is_there || times[field] > 1;
                fields.try_emplace(field, cells[i]);
                fields.try_emplace(field + ".title", titles[i]);
            }
            if (!is_there) continue;
            if (copy < rule.repeated.size())
                for (const auto& [name, value] : rule.repeated[copy]) fields[name] = value;
            told(fmt::format("row: {}", fmt::join(cells, " | ")));
            ASSAY_TRY(open(std::move(fields), text, false));
            output_.records.back().is_row = true;
        }
        table_.row = number_;
        table_.last_cells.push_back(cells.back());
        if (table_.last_cells.size() > 2) table_.last_cells.erase(table_.last_cells.begin());
        return {};
    }

    std::string_view source_;
    const Dialect& dialect_;
    Draft& draft_;
    const Take& take_;
    Output output_;
    int part_ = 0; ///< of the head, that was read last
    std::size_t number_ = 0;
    std::size_t ended_ = 0; ///< line
    bool has_titles_ = false;
    Table table_;
    const Pattern* matrix_ = nullptr;
    bool is_noisy_ = false;                   ///< a line that no rule reads stood within the matrix
    std::map<std::string, std::size_t> keys_; ///< of lists, to lines
    std::map<std::size_t, Map> commands_;     ///< by line
    std::vector<std::pair<std::size_t, std::string>> indents_; ///< of nested pairs
};

} // namespace

Result<void> read_lines(std::string_view text, std::string_view source, const Dialect& dialect,
                        Draft& draft, const Take& take) {
    return Reader{source, dialect, draft, take}.read(text);
}

} // namespace assay::imports
