// SPDX-License-Identifier: Apache-2.0

#include "judge/effective.hpp"

#include "base/utc.hpp"
#include "document/language.hpp"
#include "document/lint.hpp"
#include "document/text.hpp"
#include "document/texts/limits.hpp"
#include "judge/words.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace assay::judge {
namespace {

std::string words_of(const record::Machine& machine) {
    const auto& name = machine.instance.empty() || machine.instance == "unknown" ? machine.cpu_model
                                                                                 : machine.instance;
    return name.empty() ? plain(machine.id) : plain(name);
}

} // namespace

Result<Effective> effective(Limits limits, std::optional<store::Collection> runs, double now) {
    Effective out{
        .names = limits.names, .all = limits.limits.size(), .waivers = limits.waivers, .now = now};
    std::map<std::string, std::string> replaced;
    for (const auto& one : limits.replaced) replaced[one.id] = one.file;
    for (const auto& limit : limits.limits)
        out.limits.push_back({.limit = limit,
                              .replaced = replaced[limit.id],
                              .expired = is_over(limit.expires, now)});
    if (!runs) return out;
    std::set<std::string> ids;
    for (const auto& one : runs->runs) ids.insert(runs->machines[one.machine].id);
    if (ids.size() != 1)
        return fail(ids.empty() ? "no runs found"
                                : "the runs are from several machines (expected one)");
    ASSAY_TRY(out.judgement, judge(*std::move(runs), std::move(limits), {.now = now}));
    const auto& nodes = out.judgement->nodes; // of each campaign one
    const auto newest = std::ranges::max_element(nodes, {}, [&](const Node& node) {
        return out.judgement->collection.runs[node.runs.back()].started_seconds;
    });
    out.node = static_cast<std::size_t>(newest - nodes.begin());
    out.machine = words_of(out.judgement->collection.machines[newest->machine]);
    for (std::size_t i = 0; i < newest->checks.size(); ++i)
        if (const auto limit = newest->checks[i].limit) out.limits[*limit].checks.push_back(i);
    std::erase_if(out.limits, [](const EffectiveLimit& own) { return own.checks.empty(); });
    return out;
}

std::vector<const Check*> closest_first(const Effective& effective) {
    const auto& node = effective.judgement->nodes[effective.node];
    std::vector<const Check*> checks;
    for (const auto& own : effective.limits)
        for (const auto i : own.checks) checks.push_back(&node.checks[i]);
    std::ranges::stable_sort(checks, {}, [](const Check* check) {
        const auto share = share_of_bar(*check);
        return std::tuple{!share, !check->value, share.value_or(0)};
    });
    return checks;
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
    if (!limit.written.empty())
        parts.push_back(say<text::limits::written_as>(plain(limit.written)));
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
        table.rows.push_back(
            {.cells = {{.text = plain(limit.title.empty() ? limit.id : title_of(limit)),
                        .tone = own.expired ? Tone::weak : Tone::plain,
                        .notes = {what_for(limit), origin_of(own)}},
                       {.text = bound_in_words(limit),
                        .number = limit.at_least ? limit.at_least : limit.at_most,
                        .unit = limit.unit},
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
                       {.text = plain(waiver.machine)},
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
    const auto others = effective.all - effective.limits.size();
    Document document{
        .kind = "limits",
        .kicker = say<text::limits::kicker>(),
        .title = effective.machine.empty()
                     ? say<text::limits::show_title>(names)
                     : say<text::limits::show_title_of>(names, effective.machine),
        .verdict = effective.machine.empty() ? say<text::limits::show_verdict>(count, names)
                   : others == 0
                       ? say<text::limits::show_all>(count)
                       : say<text::limits::show_some>(effective.limits.size(), count, others)};
    const auto expired = std::ranges::count_if(effective.limits, &EffectiveLimit::expired);
    if (expired > 0) {
        document.tone = Tone::weak;
        document.verdict = sentences({document.verdict, say<text::limits::show_expired>(expired)});
    }
    if (const auto& judgement = effective.judgement) {
        if (!effective.limits.empty())
            document.sections.push_back(
                {.title = say<text::limits::kicker>(),
                 .blocks = {table_of(*judgement, judgement->nodes[effective.node],
                                     closest_first(effective))},
                 .heading = false});
        std::ranges::move(origins_of(*judgement), std::back_inserter(document.sections));
        return document;
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

namespace {

json::Value of_check(const Effective& effective, std::size_t index) {
    const auto& judgement = *effective.judgement;
    const auto& check = judgement.nodes[effective.node].checks[index];
    json::Value one{{"case", case_of(judgement, check)},
                    {"part", check.part},
                    {"verdict", to_string(check.outcome)},
                    {"cause", to_string(check.cause)},
                    {"unit", check.unit}};
    const auto share = share_of_bar(check);
    for (const auto& [key, value] :
         {std::pair{"value", check.value}, std::pair{"low", check.low},
          std::pair{"high", check.high}, std::pair{"bound", check.bound},
          std::pair{"margin", share ? std::optional{*share - 1} : std::nullopt}})
        one[key] = value ? json::Value(*value) : json::Value(nullptr);
    return one;
}

} // namespace

std::string to_json(const Effective& effective) {
    json::Value limits = json::Value::array();
    for (const auto& own : effective.limits) {
        auto one = json::encode(own.limit);
        one["file"] = own.limit.file;
        one["replaces"] = own.replaced;
        one["expired"] = own.expired;
        one["checks"] = json::Value::array();
        for (const auto i : own.checks) one["checks"].push_back(of_check(effective, i));
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
