// SPDX-License-Identifier: Apache-2.0
//
// HPL's output (HPL.out, 1.0 to 2.3, and what NVIDIA and AMD made of it) and HPL-MxP's, once HPL-AI: rows of HPL, NVIDIA's
// block of a result, and the reference implementation's lines. Behind each row, or in front of it in a block, stands
// the residual: one that failed makes the case incorrect.

#include "import/draft.hpp"
#include "import/figures.hpp"
#include "import/lines.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace assay::imports {
namespace {

using Words = std::vector<std::string_view>;

constexpr double giga = 1e9;
constexpr double largest_order = 1e9; // of a matrix; the record has 3e7

bool holds(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}
std::string_view behind(std::string_view line, char mark) {
    const auto at = line.rfind(mark);
    return at == std::string_view::npos ? std::string_view{} : trimmed(line.substr(at + 1));
}
/// Of solving a system of this order by elimination, as all of these programs count it.
double operations(std::int64_t n) {
    const auto order = static_cast<double>(n);
    return (2.0 / 3.0 * order + 1.5) * order * order;
}

class Reader {
public:
    explicit Reader(Draft& draft) : draft_{draft} {}

    void read(std::string_view text) {
        for (InputLines lines{text}; !draft_.is_full() && lines.next();)
            line(lines.content(), lines.where());
        finish_row();
        finish_reference();
    }

private:
    void line(std::string_view text, const std::string& where) {
        const auto words = words_of(text);
        if (text.starts_with("HPL") && words.size() > 2 && words[2] == "--") {
            begin(where);
            draft_.set_tool_version(words[1]);
        } else if (text.starts_with("HPL-AI Mixed-Precision Benchmark")) {
            begin(where);
        } else if (is_row(words)) {
            row(words, text, where);
        } else if (text.starts_with("||Ax-b||") && words.size() > 1 &&
                   (text.ends_with("PASSED") || text.ends_with("FAILED"))) {
            residual(text);
        } else if (holds(text, "HPL MxP Result")) {
            check_.reset();
        } else if (text.starts_with("N = ") && holds(text, ", NB = ")) {
            sizes(text);
        } else if (text.starts_with("GFLOPS = ") || text.starts_with("LU GFLOPS = ")) {
            block_rate(words, text, where);
        } else {
            fact(text, words, where);
        }
        if (holds(text, "NVIDIA")) place_ = "cuda";
        if (holds(text, "rocHPL") || holds(text, "HPLMXP_")) place_ = "hip"; // AMD's
    }

    void begin(const std::string& where) {
        finish_row();
        finish_reference();
        check_.reset();
        threshold_.reset();
        sizes_.clear();
        draft_.begin_process(where);
    }

    void fact(std::string_view text, const Words& words, const std::string& where) {
        const auto time_at = text.find(" time ");
        if (text.starts_with("- Computational tests pass if") ||
            text.starts_with("Computational tests pass if")) {
            threshold_ = number_of(words.back());
        } else if (holds(text, "() start time ")) {
            if (draft_.run().started.empty()) draft_.set_started(text.substr(time_at + 6));
        } else if (holds(text, "() end time ")) {
            draft_.set_ended(trimmed(text.substr(time_at + 6)));
        } else if (text.starts_with("N=") && words.size() == 1) {
            sizes_ = {{"n", integer_of(text.substr(2)).value_or(0)}};
        } else if (text.starts_with("Total time ") && words.size() > 3) {
            seconds_ = printed_of(words[3]);
        } else if (text.starts_with("Effective operation per sec ") && words.size() > 5) {
            reference_ = printed_of(words[5], giga);
            reference_where_ = where;
        } else if (text.starts_with("Memory allocation failed")) {
            draft_.skip(where, text, "a size was not measured: it does not fit into memory");
        }
    }

    /// "WR11C2R4": row or column major, then digits and letters of the variant.
    static bool is_row(const Words& words) {
        const auto name = words[0];
        return words.size() >= 7 && name.size() >= 3 && name[0] == 'W' &&
               (name[1] == 'R' || name[1] == 'C') && name[2] >= '0' && name[2] <= '9';
    }

    void row(const Words& words, std::string_view text, const std::string& where) {
        finish_row();
        Reading reading{.name = "linpack", .where = where};
        static constexpr std::array names{"n", "nb", "p", "q"};
        for (std::size_t i = 0; i < names.size(); ++i) {
            const auto value = integer_of(words[i + 1]);
            if (!value || *value < 1 || static_cast<double>(*value) > largest_order)
                return draft_.skip(where, text, fmt::format("{} is no positive number", names[i]));
            reading.parameters.push_back({names[i], *value});
        }
        reading.parameters.push_back({"variant", std::string{words[0]}});
        const auto seconds = printed_of(words[5]);
        const auto rate = printed_of(words[6], giga);
        if (!seconds || !(seconds->value >= 0) || !rate || !(rate->value > 0))
            return draft_.skip(where, text, "expected a time and Gflops behind N, NB, P and Q");
        const auto n = std::get<std::int64_t>(reading.parameters[0].value);
        set_rate(reading,
                 {.metric = "flop_rate",
                  .work = "flops",
                  .amount = operations(n),
                  .rate = *rate,
                  .seconds = seconds},
                 draft_);
        row_ = std::move(reading);
        row_text_ = text;
        check_.reset();
    }

    /// Versions before 2 print three of them for each row: one that fails is enough.
    void residual(std::string_view text) {
        const bool passed = text.ends_with("PASSED");
        auto number = behind(text, '=');
        number = words_of(number).empty() ? number : words_of(number)[0];
        const auto error = number_of(number);
        const bool small = error && (!threshold_ || !(*threshold_ > 0) || *error < *threshold_);
        if (check_ && !check_->passed) return;
        check_ = record::Verification{
            .passed = passed && small,
            .method = "the scaled residual, by the program itself",
            .error = error,
            .detail = passed && small ? "" : "it says " + std::string{text.substr(0, 120)}};
        if (threshold_ && *threshold_ > 0) check_->bound = threshold_;
    }

    void finish_row() {
        if (!row_) return;
        row_->verification = std::exchange(check_, std::nullopt);
        row_->place = place_;
        // Where residuals were to be computed, a row without one was cut off.
        if (!row_->verification && threshold_.value_or(0) > 0)
            draft_.skip(row_->where, row_text_, "its residual is missing");
        else
            draft_.add(*std::move(row_));
        row_.reset();
    }

    /// "N = 258048, NB = 1024, NPROW = 4, NPCOL = 2, SLOPPY-TYPE = 2"
    void sizes(std::string_view text) {
        sizes_.clear();
        for (const auto part : split(text, ", ")) {
            const auto sides = split(part, " = ");
            if (sides.size() != 2) continue;
            auto name = word_of(sides[0]);
            if (name == "nprow") name = "p";
            if (name == "npcol") name = "q";
            const auto value = integer_of(sides[1]);
            sizes_.push_back({std::move(name), value ? record::Value{*value}
                                                     : record::Value{std::string{sides[1]}}});
        }
    }

    /// "GFLOPS = 4.3468e+05, per GPU = 54335.58 ------ The HPL-MxP performance to report"
    void block_rate(const Words& words, std::string_view text, const std::string& where) {
        const bool is_lu = words[0] == "LU";
        auto number = words.size() > 3 ? words[is_lu ? 3 : 2] : std::string_view{};
        if (number.ends_with(',')) number.remove_suffix(1);
        const auto rate = printed_of(number, giga);
        if (sizes_.empty() || !rate || !(rate->value > 0))
            return draft_.skip(where, text, "expected N, NB, ... in front and a positive number");
        Reading reading{.name = is_lu ? "factorization" : "linpack",
                        .place = place_,
                        .parameters = sizes_,
                        .verification = check_,
                        .where = where};
        set_rate(reading, {.metric = "flop_rate", .rate = *rate}, draft_);
        draft_.add(std::move(reading));
    }

    void finish_reference() {
        if (!reference_ || !(reference_->value > 0)) return;
        Reading reading{.name = "linpack",
                        .place = place_,
                        .parameters = sizes_,
                        .verification = check_,
                        .where = reference_where_};
        const auto n = sizes_.empty() ? 0 : std::get<std::int64_t>(sizes_[0].value);
        const bool known = n > 0 && static_cast<double>(n) <= largest_order;
        set_rate(reading,
                 {.metric = "flop_rate",
                  .work = "flops",
                  .amount = known ? operations(n) : 0,
                  .rate = *reference_,
                  .seconds = seconds_},
                 draft_);
        draft_.add(std::move(reading));
        reference_.reset();
    }

    Draft& draft_;
    std::string place_ = "unknown"; ///< HPL looks alike wherever it ran
    std::optional<double> threshold_;
    std::optional<record::Verification> check_;
    std::optional<Reading> row_; ///< waits for its residual
    std::string row_text_;
    record::NamedList sizes_;
    std::optional<Printed> reference_;
    std::optional<Printed> seconds_;
    std::string reference_where_;
};

} // namespace

Result<void> read_linpack(std::string_view text, std::string_view /*source*/, Draft& draft) {
    Reader{draft}.read(text);
    return {};
}

} // namespace assay::imports
