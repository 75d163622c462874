// SPDX-License-Identifier: Apache-2.0

#include "judge/effective.hpp"

#include "base/utc.hpp"
#include "document/language.hpp"
#include "document/lint.hpp"
#include "document/text.hpp"
#include "document/texts/limits.hpp"
#include "judge/evidence.hpp"
#include "judge/match.hpp"
#include "judge/words.hpp"
#include "record/format.hpp"
#include "stats/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace assay::judge {
namespace {

std::string words_of(const record::Machine& machine) {
    const auto& name = machine.instance.empty() || machine.instance == "unknown" ? machine.cpu_model
                                                                                 : machine.instance;
    return name.empty() ? plain(machine.id) : plain(name);
}

/// What shares resolve to on one machine.
class Resolver {
public:
    Resolver(const Limits& limits, const store::Collection& run) : run_{run} {
        for (const auto& limit : limits.limits) by_id_.try_emplace(limit.id, &limit);
    }

    void resolve(EffectiveLimit& into) const {
        const auto& limit = into.limit;
        double share = limit.at_least ? *limit.at_least : *limit.at_most;
        const Limit* base = &limit;
        while (!base_of(*base).empty()) {
            base = by_id_.find(base_of(*base))->second;
            share *= base->at_least ? *base->at_least : *base->at_most;
        }
        std::vector<double> values;
        for (const auto& seen : run_.observations) {
            const auto& series = run_.series[seen.series];
            if (!seen.is_primary || !is_for(*base, series)) continue;
            into.unit = series.unit;
            if (base->share_of.empty()) values.push_back(1);
            if (base->share_of == "datasheet" && seen.datasheet) values.push_back(*seen.datasheet);
            if (base->share_of == "siblings" && seen.value) values.push_back(*seen.value);
            if (const auto sheet = sheet_for(*base, series)) values.push_back(*sheet);
        }
        if (base->share_of.empty()) into.unit = base->unit;
        if (values.empty()) return;
        if (base->share_of == "siblings") values = {stats::median(values)};
        into.low = share * *std::ranges::min_element(values);
        into.high = share * *std::ranges::max_element(values);
    }

private:
    /// As bound_of_limit() of the judge.
    std::optional<double> sheet_for(const Limit& limit, const decide::Series& series) const {
        if (sheet_of(limit).empty()) return {};
        std::optional<double> most;
        for (const auto& seen : run_.observations)
            if (seen.datasheet && bounds(run_.series[seen.series], sheet_of(limit), series))
                most = std::max(most.value_or(0), *seen.datasheet * limit.per_unit.value_or(1));
        return most;
    }

    const store::Collection& run_;
    std::map<std::string, const Limit*, std::less<>> by_id_;
};

} // namespace

Result<Effective> effective(const Limits& limits, const store::Collection* run, double now) {
    Effective out{.names = limits.names,
                  .machine = "",
                  .all = limits.limits.size(),
                  .limits = {},
                  .waivers = {},
                  .now = now};
    const record::Machine* machine = nullptr;
    if (run != nullptr) {
        std::set<std::string> ids;
        for (const auto& one : run->runs) ids.insert(run->machines[one.machine].id);
        if (ids.size() != 1)
            return fail(ids.empty()
                            ? "there is no run among these"
                            : "these runs are of several machines; limits are shown for one");
        machine = &run->machines[run->runs.back().machine];
        out.machine = words_of(*machine);
    }
    std::map<std::string, std::string> replaced;
    for (const auto& one : limits.replaced) replaced[one.id] = one.file;
    for (const auto& limit : limits.limits) {
        if (machine != nullptr && !is_for(limit.machine, *machine)) continue;
        EffectiveLimit own{
            .limit = limit, .replaced = replaced[limit.id], .expired = is_over(limit.expires, now)};
        if (machine != nullptr && !limit.share_of.empty()) Resolver{limits, *run}.resolve(own);
        out.limits.push_back(std::move(own));
    }
    for (const auto& waiver : limits.waivers)
        if (machine == nullptr || waiver.machine.empty() || waiver.machine == machine->id ||
            std::ranges::any_of(machine->identity.serials, [&](const record::Serial& serial) {
                return serial.text == waiver.machine || serial.keyed == waiver.machine;
            }))
            out.waivers.push_back(waiver);
    return out;
}

namespace {

using namespace document;
using record::human;
using record::human_percent;

std::string value_in_words(const Limit& limit, double bound) {
    if (limit.share_of.empty()) return human(bound, limit.unit);
    const auto share = human_percent(bound);
    if (limit.share_of == "datasheet") return say<text::limits::of_datasheet>(share);
    if (limit.share_of == "siblings") return say<text::limits::of_siblings>(share);
    if (const auto benchmark = sheet_of(limit); !benchmark.empty())
        return say<text::limits::of_sheet_of>(share, plain(std::string{benchmark}),
                                              fmt::format("{:.3g}", limit.per_unit.value_or(1)));
    return say<text::limits::of_limit>(share, plain(std::string{base_of(limit)}));
}
std::string bound_in_words(const Limit& limit) {
    std::vector<std::string> parts;
    if (limit.at_least)
        parts.push_back(say<text::limits::at_least>(value_in_words(limit, *limit.at_least)));
    if (limit.at_most)
        parts.push_back(say<text::limits::at_most>(value_in_words(limit, *limit.at_most)));
    return join(parts);
}
std::string resolved_in_words(const EffectiveLimit& own) {
    if (own.limit.share_of.empty()) return {};
    if (!own.low) return say<text::limits::unresolved>();
    const auto low = human(*own.low, own.unit);
    const auto high = human(*own.high, own.unit);
    return low == high ? say<text::limits::resolved>(low)
                       : say<text::limits::resolved_range>(low, high);
}

std::string what_for(const Limit& limit) {
    std::vector<std::string> parts;
    for (const auto& [key, pattern] : limit.machine) parts.push_back(key + "=" + plain(pattern));
    if (parts.empty()) parts.push_back(say<text::limits::all_machines>());
    for (const auto& [key, pattern] : limit.cases) parts.push_back(key + "=" + plain(pattern));
    return join(parts);
}

std::string origin_of(const EffectiveLimit& own) {
    const auto& limit = own.limit;
    std::vector<std::string> parts{
        say<text::limits::from_file>(plain(limit.file), plain(limit.source))};
    if (!limit.date.empty()) parts.push_back(say<text::limits::of_date>(plain(limit.date)));
    if (limit.samples) parts.push_back(say_count<text::limits::of_nodes>(*limit.samples));
    if (!limit.author.empty()) parts.push_back(plain(limit.author));
    if (const auto& errors = limit.errors;
        errors && errors->false_reject && errors->false_accept && errors->slowdown)
        parts.push_back(say<text::limits::error_rates>(human_percent(*errors->false_reject),
                                                       human_percent(*errors->false_accept),
                                                       human_percent(*errors->slowdown)));
    if (!own.replaced.empty()) parts.push_back(say<text::limits::replaces>(plain(own.replaced)));
    if (!limit.expires.empty())
        parts.push_back(own.expired ? say<text::limits::expired_on>(plain(limit.expires))
                                    : say<text::limits::until>(plain(limit.expires)));
    return join(parts);
}

Table limits_of(const Effective& effective) {
    Table table{.columns = {{.title = say<text::limits::limit>()},
                            {.title = say<text::limits::bound>()},
                            {.title = say<text::limits::kind>(), .rank = 1}},
                .sheet = say<text::limits::kicker>()};
    for (const auto& own : effective.limits) {
        const auto& limit = own.limit;
        Cell bound{.text = bound_in_words(limit),
                   .number = own.low          ? own.low
                             : limit.at_least ? limit.at_least
                                              : limit.at_most,
                   .unit = own.low ? own.unit : limit.unit};
        if (!effective.machine.empty()) bound.detail = resolved_in_words(own);
        table.rows.push_back(
            {.cells = {{.text = plain(limit.title.empty() ? limit.id : title_of(limit)),
                        .tone = own.expired ? Tone::weak : Tone::plain,
                        .notes = {what_for(limit), origin_of(own)}},
                       std::move(bound),
                       {.text = kind_in_words(limit.kind)}}});
    }
    return table;
}

Table waivers_of(const Effective& effective) {
    Table table{.columns = {{.title = say<text::limits::waiver>()},
                            {.title = say<text::limits::machine>()},
                            {.title = say<text::limits::owner>()},
                            {.title = say<text::limits::expires>()},
                            {.title = say<text::limits::reason>()}},
                .sheet = say<text::limits::waivers>()};
    for (const auto& waiver : effective.waivers) {
        const bool expired = is_over(waiver.expires, effective.now);
        table.rows.push_back(
            {.cells = {{.text = plain(waiver.limit.empty() ? waiver.cause : waiver.limit)},
                       {.text = waiver.machine.empty() ? say<text::limits::all_machines>()
                                                       : plain(waiver.machine)},
                       {.text = plain(waiver.owner)},
                       {.text = expired ? say<text::limits::expired_on>(plain(waiver.expires))
                                        : plain(waiver.expires),
                        .tone = expired ? Tone::bad : Tone::plain},
                       {.text = plain(waiver.reason)}}});
    }
    return table;
}

std::vector<std::string> plain_names(const std::vector<std::string>& names) {
    std::vector<std::string> all;
    for (const auto& name : names) all.push_back(plain(name));
    return all;
}

} // namespace

Document make_document(const Effective& effective) {
    const auto names = join(plain_names(effective.names));
    const auto count = say_count<text::limits::limits_of>(effective.all);
    Document document{.kind = "limits",
                      .kicker = say<text::limits::kicker>(),
                      .title = effective.machine.empty()
                                   ? say<text::limits::show_title>(names)
                                   : say<text::limits::show_title_of>(names, effective.machine),
                      .verdict =
                          effective.machine.empty()
                              ? say<text::limits::show_verdict>(count, names)
                              : say<text::limits::show_some>(effective.limits.size(), count)};
    const auto expired = std::ranges::count_if(effective.limits, &EffectiveLimit::expired);
    if (expired > 0) {
        document.tone = Tone::weak;
        document.verdict = sentences({document.verdict, say<text::limits::show_expired>(expired)});
    }
    if (!effective.limits.empty())
        document.sections.push_back({.title = say<text::limits::kicker>(),
                                     .blocks = {limits_of(effective)},
                                     .heading = false});
    if (!effective.waivers.empty())
        document.sections.push_back(
            {.title = say<text::limits::waivers>(), .blocks = {waivers_of(effective)}});
    return document;
}

std::string to_json(const Effective& effective) {
    json::Value limits = json::Value::array();
    for (const auto& own : effective.limits) {
        auto one = json::encode(own.limit);
        one["file"] = own.limit.file;
        one["replaces"] = own.replaced;
        one["expired"] = own.expired;
        one["here"] = own.low
                          ? json::Value{{"low", *own.low}, {"high", *own.high}, {"unit", own.unit}}
                          : json::Value(nullptr);
        limits.push_back(std::move(one));
    }
    json::Value waivers = json::Value::array();
    for (const auto& waiver : effective.waivers) {
        auto one = json::encode(waiver);
        one["expired"] = is_over(waiver.expires, effective.now);
        waivers.push_back(std::move(one));
    }
    return json::to_text({{"files", effective.names},
                          {"machine", effective.machine},
                          {"limits", limits},
                          {"waivers", waivers}});
}

// --- lint -----------------------------------------------------------------------------------------------

Document make_document(const std::vector<LintRow>& findings, const std::vector<std::string>& files,
                       std::size_t limits) {
    return lint_document(
        say<text::limits::kicker>(), say<text::limits::lint_title>(list_of(files, 3)),
        say_count<text::limits::limits_of>(limits),
        say<text::limits::lint_found>(say_count<text::limits::findings>(findings.size()),
                                      serious_of(findings)),
        files, findings);
}

std::string to_json(const std::vector<LintRow>& findings, const std::vector<std::string>& files,
                    std::size_t limits) {
    return json::to_text({{"files", files},
                          {"limits", limits},
                          {"serious", serious_of(findings)},
                          {"findings", lint_rows(findings, "limit", false)}});
}

} // namespace assay::judge
