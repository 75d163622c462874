// SPDX-License-Identifier: Apache-2.0
//
// The summary that HPCG 3 writes (HPCG-Benchmark_*.txt): lines of "Section::name=value". The rating is that of all
// operations with the overheads of set-up; the kernels' rates are raw.

#include "import/draft.hpp"
#include "import/figures.hpp"
#include "import/lines.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <utility>

namespace assay::imports {
namespace {

constexpr double giga = 1e9;

class Reader {
public:
    explicit Reader(Draft& draft) : draft_{draft} {}

    void read(std::string_view text) {
        for (InputLines lines{text}; !draft_.is_full() && lines.next();) {
            const auto line = lines.content();
            const auto equals = line.rfind('=');
            if (line == "HPCG-Benchmark") {
                finish();
                draft_.begin_process(lines.where());
            } else if (equals != std::string_view::npos) {
                // Coarse grids repeat their keys: the first stays.
                facts_.try_emplace(
                    std::string{trimmed(line.substr(0, equals))},
                    Fact{std::string{trimmed(line.substr(equals + 1))}, lines.where()});
            }
        }
        finish();
    }

private:
    struct Fact {
        std::string value;
        std::string where;
    };
    const Fact* find(const std::string& key) const {
        const auto found = facts_.find(key);
        return found == facts_.end() ? nullptr : &found->second;
    }
    std::string value(const std::string& key) const {
        const auto* fact = find(key);
        return fact == nullptr ? "" : fact->value;
    }

    void finish() {
        if (facts_.empty()) return;
        draft_.set_tool_version(value("version"));
        static constexpr std::array<std::pair<const char*, const char*>, 5> sizes{
            {{"nx", "Global Problem Dimensions::Global nx"},
             {"ny", "Global Problem Dimensions::Global ny"},
             {"nz", "Global Problem Dimensions::Global nz"},
             {"ranks", "Machine Summary::Distributed Processes"},
             {"threads", "Machine Summary::Threads per processes"}}};
        parameters_.clear();
        for (const auto& [name, key] : sizes)
            if (const auto size = integer_of(value(key)); size && *size > 0)
                parameters_.push_back({name, *size});
        rating();
        for (const auto& [name, key] : {std::pair{"ddot", "DDOT"},
                                        {"waxpby", "WAXPBY"},
                                        {"spmv", "SpMV"},
                                        {"multigrid", "MG"},
                                        {"raw", "Total"}})
            kernel(name, key);
        facts_.clear();
    }

    /// Every test must have passed, and the end must say that the result is valid.
    std::optional<record::Verification> verification() const {
        const std::string valid = "Final Summary::HPCG result is VALID with a GFLOP/s rating of";
        const auto* invalid = find("Final Summary::HPCG result is");
        record::Verification check{.passed = true, .method = "HPCG's own validation"};
        const auto fail = [&](const std::string& detail) {
            check.passed = false;
            if (check.detail.empty()) check.detail = detail;
        };
        for (const auto& [key, fact] : facts_)
            if (key.ends_with("::Result") && fact.value != "PASSED")
                fail(fmt::format("{}: {}", key.substr(0, key.size() - 8), fact.value));
        if (invalid != nullptr) fail("it says " + invalid->value);
        if (find(valid) == nullptr && check.passed) return std::nullopt;
        return check;
    }

    void add(Reading reading, const std::string& key, double bandwidth) {
        const auto* fact = find(key);
        if (fact == nullptr) return;
        const auto rate = printed_of(fact->value, giga);
        if (!rate || !(rate->value > 0))
            return draft_.skip(fact->where, key + "=" + fact->value, "no positive number");
        reading.place = "unknown";
        reading.parameters = parameters_;
        reading.verification = verification();
        reading.where = fact->where;
        set_rate(reading, {.metric = "flop_rate", .rate = *rate}, draft_);
        if (bandwidth > 0) reading.extra.push_back({"bandwidth", bandwidth});
        draft_.add(std::move(reading));
    }
    double bandwidth(const std::string& key) const {
        const auto printed = printed_of(value("GB/s Summary::" + key), giga);
        return printed ? printed->value : 0;
    }

    void rating() {
        const std::string total = "Total with convergence and optimization phase overhead";
        const std::string final = "Final Summary::HPCG result is VALID with a GFLOP/s rating of";
        add({.name = "rating"}, find(final) != nullptr ? final : "GFLOP/s Summary::" + total,
            bandwidth(total));
        const auto needed = number_of(
            value("Final Summary::Official results execution time (sec) must be at least"));
        if (needed)
            draft_.note(fmt::format(
                "it ran for less than {} s: HPCG takes it for no official result", *needed));
    }

    void kernel(const char* name, const std::string& key) {
        add({.name = name}, "GFLOP/s Summary::Raw " + key,
            key == "Total" ? bandwidth("Raw Total B/W") : 0);
    }

    Draft& draft_;
    std::map<std::string, Fact, std::less<>> facts_;
    record::NamedList parameters_;
};

} // namespace

Result<void> read_hpcg(std::string_view text, std::string_view /*source*/, Draft& draft) {
    Reader{draft}.read(text);
    return {};
}

} // namespace assay::imports
