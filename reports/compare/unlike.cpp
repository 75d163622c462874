// SPDX-License-Identifier: Apache-2.0

#include "compare/unlike.hpp"

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/compare.hpp"
#include "document/texts/words.hpp"
#include "document/words.hpp"
#include "record/model.hpp"
#include "store/alike.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace assay::report {
namespace {

/// What sets two series apart, in words for each: "size 1024" and "size 2048".
struct Apart {
    std::vector<std::string> here;
    std::vector<std::string> there;
    bool only_library = false;
    bool only_parameters = false;
    double distance =
        0; ///< of numbers, by their logarithms: size 1000 is nearer to 1024 than to 8192

    void add(std::string one, std::string other) {
        here.push_back(std::move(one));
        there.push_back(std::move(other));
    }
};

std::string parameter_text(const record::Value* value, const std::string& name) {
    if (value == nullptr) return say<text::compare::without>(plain(with_blanks(name)));
    return plain(fmt::format("{} {}", with_blanks(name), record::to_string(*value)));
}

void compare_parameters(Apart& apart, const record::NamedList& a, const record::NamedList& b) {
    const record::NameIndex of_a{a};
    const record::NameIndex of_b{b};
    const auto add = [&](const std::string& name) {
        const auto* one = of_a.find(name);
        const auto* other = of_b.find(name);
        if (one != nullptr && other != nullptr && *one == *other) return;
        apart.add(parameter_text(one, name), parameter_text(other, name));
        const auto x = record::number(a, name);
        const auto y = record::number(b, name);
        if (x && y && *x > 0 && *y > 0) apart.distance += std::abs(std::log(*x / *y));
    };
    for (const auto& parameter : a) add(parameter.name);
    for (const auto& parameter : b)
        if (of_a.find(parameter.name) == nullptr) add(parameter.name);
}

Apart differences(const Collection& collection, const Arrangement& arrangement,
                  const ArrangedRow& one, const ArrangedRow& other) {
    const Series& a = collection.series[one.series];
    const Series& b = collection.series[other.series];
    Apart apart;
    if (!arrangement.library_is_column && a.library != b.library)
        apart.add(plain(a.library), plain(b.library));
    apart.only_library = !apart.here.empty();
    if (a.version != b.version)
        apart.add(say<text::compare::version>(a.version), say<text::compare::version>(b.version));
    if (!arrangement.place_is_column && a.place != b.place)
        apart.add(plain(a.place), plain(b.place));
    const std::size_t others = apart.here.size();
    compare_parameters(apart, parameters_of(collection, arrangement, one),
                       parameters_of(collection, arrangement, other));
    const std::size_t parameters = apart.here.size() - others;
    if (a.metric != b.metric)
        apart.add(plain(metric_title(a.metric)), plain(metric_title(b.metric)));
    else if (a.unit != b.unit || a.higher_is_better != b.higher_is_better)
        apart.add(plain(a.unit), plain(b.unit));
    for (const auto& condition : record::condition_table()) {
        const auto* here = record::find(one.conditions, condition.name);
        const auto* there = record::find(other.conditions, condition.name);
        if (here == there || (here != nullptr && there != nullptr && *here == *there)) continue;
        apart.add(condition_in_words(one.conditions, condition.name),
                  condition_in_words(other.conditions, condition.name));
    }
    apart.only_library = apart.only_library && apart.here.size() == 1;
    apart.only_parameters = parameters > 0 && apart.here.size() == parameters;
    return apart;
}

class Finder {
public:
    Finder(const Collection& collection, const Arrangement& arrangement,
           const std::vector<std::vector<bool>>& measured)
        : collection_{collection}, arrangement_{arrangement}, measured_{measured} {
        for (std::size_t i = 0; i < measured.size(); ++i)
            if (std::ranges::count(measured[i], false) > 0)
                lacking_[collection.series[arrangement.rows[i].series].benchmark].push_back(i);
    }

    std::vector<NotCompared> find() {
        for (std::size_t row = 0; row < measured_.size(); ++row) {
            const auto& has = measured_[row];
            const auto first = std::ranges::find(has, true);
            for (std::size_t side = 0; side < has.size(); ++side)
                if (!has[side]) look(row, side, static_cast<std::size_t>(first - has.begin()));
        }
        return std::move(found_);
    }

private:
    /// `row` is lacking on `side`; `other` is a side that has it, or past the end.
    void look(std::size_t row, std::size_t side, std::size_t other) {
        const auto& arranged = arrangement_.rows[row];
        const auto reasons = reasons_of(collection_, arranged.sides[side]);
        if (!reasons.empty()) return add(row, side, fmt::format("{}", fmt::join(reasons, "; ")));
        if (other >= arrangement_.sides.size()) return; // the side where it failed says why
        std::size_t match = row;
        std::optional<Apart> nearest;
        for (const auto candidate : lacking_[collection_.series[arranged.series].benchmark]) {
            if (candidate == row || !measured_[candidate][side] || measured_[candidate][other] ||
                arrangement_.rows[candidate].table != arranged.table ||
                arrangement_.rows[candidate].extra != arranged.extra)
                continue;
            auto apart =
                differences(collection_, arrangement_, arranged, arrangement_.rows[candidate]);
            if (nearest && std::pair{nearest->here.size(), nearest->distance} <=
                               std::pair{apart.here.size(), apart.distance})
                continue;
            nearest = std::move(apart);
            match = candidate;
        }
        if (!nearest) return add(row, side, say<text::compare::not_measured>());
        // Seen from the other row it is the same thing; said once.
        if (!said_.insert(std::minmax(row, match)).second) return;
        std::string reason = say<text::compare::unlike>(
            fmt::format("{}", fmt::join(nearest->here, ", ")), arrangement_.sides[other],
            fmt::format("{}", fmt::join(nearest->there, ", ")), arrangement_.sides[side]);
        if (nearest->only_library)
            reason += fmt::format("; {}", say<text::compare::see_questions>());
        add(row, side, std::move(reason),
            nearest->only_parameters ? NotComparedCode::unlike_parameters : NotComparedCode::other);
    }
    void add(std::size_t row, std::size_t side, std::string reason,
             NotComparedCode code = NotComparedCode::other) {
        auto what = identity_of(collection_, arrangement_, arrangement_.rows[row]);
        // Sides of one row come one after the other.
        if (!found_.empty() && found_.back().what == what && found_.back().reason == reason)
            found_.back().where.push_back(arrangement_.sides[side]);
        else
            found_.push_back(
                {std::move(what), std::move(reason), {arrangement_.sides[side]}, code});
    }

    const Collection& collection_;
    const Arrangement& arrangement_;
    const std::vector<std::vector<bool>>& measured_;
    std::map<std::string, std::vector<std::size_t>> lacking_; ///< rows, by benchmark
    std::set<std::pair<std::size_t, std::size_t>> said_;
    std::vector<NotCompared> found_;
};

} // namespace

std::vector<std::string> reasons_of(const Collection& collection,
                                    const std::vector<std::uint32_t>& observations) {
    std::map<std::pair<record::Status, std::string>, std::size_t> counts;
    for (const auto index : observations) {
        const auto& observation = collection.observations[index];
        if (!observation.value)
            ++counts[{observation.status, translated(plain(observation.reason))}];
    }
    std::vector<std::pair<std::size_t, std::string>> sorted;
    for (const auto& [what, count] : counts) {
        std::string text{status_in_words(what.first)};
        if (!what.second.empty()) text = say<text::words::labelled>(text, what.second);
        sorted.emplace_back(count, say<text::compare::in_runs>(text, count, observations.size()));
    }
    std::ranges::stable_sort(sorted, std::greater{}, [](const auto& entry) { return entry.first; });
    std::vector<std::string> texts;
    for (auto& [count, text] : sorted) texts.push_back(std::move(text));
    return texts;
}

std::vector<NotCompared> find_unlike(const Collection& collection, const Arrangement& arrangement,
                                     const std::vector<std::vector<bool>>& measured) {
    return Finder{collection, arrangement, measured}.find();
}

} // namespace assay::report
