// SPDX-License-Identifier: Apache-2.0
#include "base/console.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/cost.hpp"
#include "document/texts/list.hpp"
#include "document/texts/offers.hpp"
#include "document/texts/procure.hpp"
#include "document/texts/words.hpp"
#include "purchase/cost.hpp"
#include "purchase/offer_document.hpp"
#include "purchase/procurement.hpp"
#include "record/format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace assay::purchase {
namespace {

using namespace document;
using record::human_percent;

class Showing : View {
public:
    explicit Showing(const Procurement& purchase)
        : View{purchase}, offers_{purchase.ranking.offers} {}

    Document take() {
        Document document{.kind = "procurement",
                          .kicker = say<text::procure::kicker>(),
                          .title = say<text::procure::title>(title_of(ranking.profile)),
                          .sub = sub()};
        decide(document);
        document.lead = lead();
        if (!offers_.empty()) {
            std::vector<Block> blocks{ranking_table()};
            if (ranking.compares()) blocks.emplace_back(cost_chart());
            add(document, say<text::procure::ranking>(), say<text::procure::ranking_question>(),
                std::move(blocks));
        }
        if (!ranking.unranked.empty())
            add(document, say<text::procure::unranked_title>(), "", {unranked(*this)});
        if (auto blocks = risks(*this); !blocks.empty())
            add(document, say<text::procure::risks_title>(), "", std::move(blocks));
        if (auto sheets = data_sheets(*this); !sheets.rows.empty())
            add(document, say<text::procure::sheets_title>(), say<text::procure::sheets_question>(),
                {std::move(sheets)});
        std::vector<Block> conditions{assumptions(*this)};
        if (!offers_.empty()) {
            if (ranking.runner_up) add_difference(document);
            add(document, say<text::procure::speed_title>(), say<text::procure::speed_question>(),
                {speeds()});
            if (auto units = unit_costs(*this); !units.rows.empty())
                add(document, say<text::procure::units_title>(),
                    say<text::procure::units_question>(), {std::move(units)});
            if (auto parts = cost_parts_table(); parts.only_workbook)
                conditions.emplace_back(std::move(parts));
            else
                add(document, say<text::procure::costs_title>(),
                    say<text::procure::costs_question>(), {std::move(parts)});
            for (auto& block : included()) conditions.push_back(std::move(block));
            add(document, say<text::procure::what_if>(), "", {what_if(*this)});
            document.sections.back().heading = false; // the chart has that title
            for (auto& table : live_ranking(*this))
                document.sections.back().blocks.emplace_back(std::move(table));
        }
        if (!found.promises.empty())
            add(document, say<text::procure::contract_title>(),
                say<text::procure::contract_question>(), contract(found));
        add(document, say<text::procure::assumptions_title>(), "", std::move(conditions));
        auto quoted = make_document(found.offers, found.options.costs.terms);
        for (auto& section : quoted.sections)
            for (auto& block : section.blocks) {
                if (auto* const table = std::get_if<Table>(&block))
                    table->folded = say<text::procure::quoted>();
                document.sections.back().blocks.push_back(std::move(block));
            }
        const auto last = std::ranges::find(document.sections, say<text::procure::speed_title>(),
                                            &Section::title);
        for (auto section = last; section != document.sections.end(); ++section)
            section->detail = true;
        document.rest = say<text::procure::rest>();
        document.foot.push_back({.text = say<text::procure::method>(), .tone = Tone::quiet});
        document.date = found.options.costs.terms.now;
        return document;
    }

private:
    static void add(Document& document, std::string title, std::string question,
                    std::vector<Block> blocks) {
        document.sections.push_back({.title = std::move(title),
                                     .question = std::move(question),
                                     .blocks = std::move(blocks)});
    }

    std::string sub() const {
        const auto measured = static_cast<std::size_t>(std::ranges::count_if(
            ranking.scores.types, [](const auto& type) { return type.ranked; }));
        return say<text::procure::sub>(
            say_count<text::procure::offer_count>(found.offers.offers.size()),
            say_count<text::procure::type_count>(measured),
            say_count<text::procure::machine_count>(found.machines),
            ranking.currency.empty() ? "-" : ranking.currency);
    }

    void decide(Document& document) const {
        const auto broken = broken_promises();
        document.tone =
            ranking.sure && broken.empty() && !ranking.doubted ? Tone::good : Tone::weak;
        // An offer that breaks a promise may be the one people meant to buy, so this comes first.
        document.verdict = broken.empty()
                               ? verdict()
                               : say<text::procure::broken_first>(list_of(broken, 3), verdict());
        if (ranking.doubted)
            document.verdict =
                sentences({say<text::procure::check_first>(plain(best().cost.offer.id),
                                                           found.doubts.front().what),
                           document.verdict});
    }

    std::string verdict() const {
        if (offers_.empty()) {
            const bool apart = std::ranges::any_of(
                ranking.unranked, [](const auto& one) { return one.why == Unranked::not_alike; });
            if (const auto missed = missed_by_all(); !missed.empty())
                return say<text::procure::none_meets>(list_of(missed, 3));
            return apart ? say<text::procure::none_alike>() : say<text::procure::none>();
        }
        const auto name = offer_name(best().cost.offer);
        if (!ranking.compares()) return say<text::procure::best_alone>(name);
        const auto& second = offers_[*ranking.runner_up];
        const auto by = human_percent(1 / value_of(second) - 1);
        const auto rival = offer_name(second.cost.offer);
        if (ranking.tie) return say<text::procure::tie>(name, rival, by);
        if (!ranking.above) return say<text::procure::best_provisional>(name, by, rival);
        return ranking.sure ? say<text::procure::best_sure>(name, by, rival)
                            : say<text::procure::best_unsure>(name, by, rival);
    }

    /// The lines below the verdict: how sure, what would change it, what is left to do.
    std::vector<std::string> lead() const {
        std::vector<std::string> lines;
        if (!ranking.needs.empty())
            lines.push_back(say<text::words::labelled>(say<text::procure::needs>(), needs()));
        if (ranking.compares()) {
            lines.push_back(
                !best().best   ? say<text::procure::no_probability>(list_of(few_machines(), 4))
                : ranking.sure ? say<text::procure::how_sure>(chance(*best().best))
                               : say<text::procure::how_unsure>(chance(*best().best),
                                                                chance(stats::sure_probability)));
            lines.push_back(changes(offers_[*ranking.runner_up]));
            if (auto text = to_do(); !text.empty()) lines.push_back(std::move(text));
        }
        if (const auto names = missing_measures(); !names.empty() && !offers_.empty())
            lines.push_back(say<text::procure::uncovered>(
                human_percent(1 - ranking.scores.coverage), list_of(names, 6)));
        if (!ranking.unranked.empty())
            lines.push_back(say_count<text::procure::unranked_too>(ranking.unranked.size()));
        return lines;
    }

    /// How to become surer, where that is possible.
    std::string to_do() const {
        if (ranking.sure) return {};
        const auto& one = best().cost.offer;
        const auto& other = offers_[*ranking.runner_up].cost.offer;
        const auto run = say<text::procure::run_on>(plain(one.provider), plain(one.instance),
                                                    plain(other.provider), plain(other.instance));
        if (ranking.provisional) return say<text::procure::measure_three>(run);
        const auto needed = machines_for_sure(ranking, 0, *ranking.runner_up);
        return needed ? say<text::procure::measure_more>(*needed, machines(best()),
                                                         machines(offers_[*ranking.runner_up]), run)
                      : say<text::procure::take_either>();
    }

    /// Needs that offers do not meet, where nothing is left.
    std::vector<std::string> missed_by_all() const {
        std::vector<std::string> all;
        for (std::size_t n = 0; n < ranking.needs.size(); ++n)
            if (std::ranges::any_of(ranking.unranked, [&](const auto& one) {
                    return one.why == Unranked::need && one.needs[n].outcome != Outcome::met;
                }))
                all.push_back(purchase::in_words(ranking.needs[n], ranking.currency));
        return all;
    }

    std::string needs() const {
        std::vector<std::string> all;
        for (const auto& need : ranking.needs) {
            auto one = purchase::in_words(need, ranking.currency);
            all.push_back(need.of_profile ? say<text::procure::need_of_profile>(one)
                                          : std::move(one));
        }
        return join(all);
    }

    /// One for each type of machine and what it lacks.
    std::vector<std::string> broken_promises() const {
        std::vector<std::string> all;
        for (const auto& one : ranking.unranked)
            if (one.broken) {
                auto text =
                    say<text::words::labelled>(plain(one.offer.provider + ' ' + one.offer.instance),
                                               purchase::in_words(*one.broken));
                if (std::ranges::count(all, text) == 0) all.push_back(std::move(text));
            }
        return all;
    }

    std::vector<std::string> few_machines() const {
        std::vector<std::string> few;
        std::set<std::size_t> types;
        for (const auto& offer : offers_)
            if (machines(offer) < stats::sure_machines && types.insert(offer.type).second)
                few.push_back(say<text::procure::few_machines>(
                    plain(offer.cost.offer.instance),
                    say_count<text::procure::machine_count>(machines(offer))));
        return few;
    }

    std::string in_words(const Flip& flip) const {
        return flip.price_falls ? say<text::procure::price_flip>(human_percent(*flip.price_falls))
                                : say<text::procure::weight_flip>(measure_title(flip.measure),
                                                                  human_percent(flip.weight),
                                                                  human_percent(flip.from));
    }

    std::string changes(const RankedOffer& second) const {
        const auto name = offer_name(second.cost.offer);
        std::vector<std::string> parts;
        constexpr std::size_t most = 3;
        for (const auto& flip : flips_of(ranking, 0, *ranking.runner_up))
            if (parts.size() < most) parts.push_back(in_words(flip));
        if (parts.empty()) return say<text::procure::nothing_flips>(name);
        return say<text::procure::flips>(
            name, fmt::format("{}", fmt::join(parts, say<text::procure::or_if>())));
    }

    /// "0.400", "33.0", "1234"
    static std::string digits(double amount) {
        return amount < 100 ? fmt::format("{:#.3g}", amount) : fmt::format("{:.0f}", amount);
    }
    Chart cost_chart() const {
        constexpr std::size_t most = 12;
        RatioChart data{.unit = ranking.currency};
        const double first = best().hour.total();
        for (const auto& offer : offers_) {
            if (data.ratios.size() == most) break;
            const double cost = first / value_of(offer);
            Ratio one{.label = offer_name(offer.cost.offer),
                      .ratio = cost,
                      .text = fmt::format("{} {}", ranking.currency, digits(cost))};
            if (&offer == &best()) one.outcome = "better";
            if (has_interval(offer)) {
                one.low = cost * std::exp(-half(offer));
                one.high = cost * std::exp(half(offer));
                one.text += fmt::format(" [{}, {}]", digits(*one.low), digits(*one.high));
            }
            data.ratios.push_back(std::move(one));
        }
        return {.title = say<text::procure::same_work>(),
                .caption = say<text::procure::same_work_caption>(offer_name(best().cost.offer)),
                .data = std::move(data)};
    }

    Table ranking_table() const {
        Table table{.columns = {{.title = say<text::offers::offer>()},
                                numeric(say<text::procure::value>()),
                                numeric(say<text::procure::is_best>()),
                                numeric(say<text::procure::speed>(), 1),
                                numeric(say<text::procure::next_machine>(), 2),
                                numeric(say<text::procure::hour>()),
                                numeric(say<text::procure::month>(), 4),
                                numeric(say<text::procure::machines>(), 3)},
                    .sheet = say<text::procure::ranking>()};
        for (const auto& offer : offers_) {
            Cell name{.text = offer_name(offer.cost.offer)};
            const auto& quoted = offer.cost.offer;
            if (quoted.id !=
                fmt::format("{} {} {}", quoted.provider, quoted.instance, to_string(quoted.tariff)))
                name.detail = plain(quoted.id);
            const auto& type = ranking.scores.types[offer.type];
            if (machines(offer) == 1) name.notes.push_back(say<text::procure::one_machine>());
            constexpr double all = 0.995;
            if (type.fast_share && *type.fast_share < all)
                name.notes.push_back(
                    say<text::procure::delivered>(human_percent(*type.fast_share)));
            if (type.partial > 0)
                name.notes.push_back(say_count<text::procure::partial>(type.partial));
            auto value = ratio_cell(value_of(offer));
            if (has_interval(offer)) {
                value.low = *value.number * std::exp(-half(offer));
                value.high = *value.number * std::exp(half(offer));
                value.detail = fmt::format("[{:.2f}, {:.2f}]", *value.low, *value.high);
            }
            table.rows.push_back(
                {.cells = {
                     std::move(name),
                     std::move(value),
                     ranking.compares() ? chance_cell(offer.best) : Cell{},
                     ratio_cell(std::exp(offer.score - best().score)),
                     offer.next ? ratio_cell(std::exp(*offer.next - best().score)) : Cell{},
                     money_cell(offer.hour.total()),
                     cell_of(offer.cost.lines.find("month")),
                     {.text = std::to_string(machines(offer)),
                      .tone = machines(offer) < stats::sure_machines ? Tone::weak : Tone::plain,
                      .number = static_cast<double>(machines(offer)),
                      .unit = unit_count}}});
        }
        return table;
    }

    std::string name_of(const Factor& factor) const {
        if (factor.code == "speed") return measure_title(factor.measure);
        if (factor.code == "price") return say<text::procure::part_machine>();
        if (factor.code == "power") return say<text::procure::part_power>();
        if (factor.code == "other") return say<text::procure::part_other>();
        return say<text::procure::part_failures>();
    }

    void add_difference(Document& document) const {
        const auto second = *ranking.runner_up;
        RatioChart data;
        Table table{
            .columns = {{.title = say<text::cost::part>()}, numeric(say<text::procure::value>())},
            .sheet = say<text::procure::difference_title>(),
            .only_workbook = true};
        Chart chart{.title = say<text::procure::factors>()};
        double so_far = 1;
        for (const auto& factor : factors_of(ranking, 0, second)) {
            const double ratio = std::exp(factor.log);
            data.ratios.push_back({.label = name_of(factor),
                                   .side = 2,
                                   .ratio = so_far * ratio,
                                   .outcome = factor.log > 0 ? "better" : "worse",
                                   .text = times(ratio),
                                   .from = so_far});
            so_far *= ratio;
            chart.lines.push_back(say<text::words::labelled>(name_of(factor), times(ratio)));
            table.rows.push_back({.cells = {{.text = name_of(factor)}, ratio_cell(ratio)}});
        }
        data.ratios.push_back({.label = say<text::procure::all_factors>(),
                               .side = 2,
                               .ratio = so_far,
                               .text = times(so_far)});
        const auto first_name = offer_name(best().cost.offer);
        chart.caption = say<text::procure::difference_caption>(times(1 / value_of(offers_[second])),
                                                               first_name);
        chart.data = std::move(data);
        add(document, say<text::procure::difference_title>(),
            say<text::procure::difference_question>(first_name,
                                                    offer_name(offers_[second].cost.offer)),
            {std::move(chart), std::move(table)});
    }

    Table speeds() const {
        Table table{.columns = {{.title = say<text::procure::measure>()},
                                numeric(say<text::procure::weight>())},
                    .sheet = say<text::procure::speed_title>()};
        std::vector<std::size_t> types;
        for (const auto& offer : offers_)
            if (std::ranges::count(types, offer.type) == 0) types.push_back(offer.type);
        std::vector<std::vector<double>> means;
        for (const auto type : types) {
            const auto& one = ranking.scores.types[type];
            table.columns.push_back(numeric(plain(fmt::format("{} {}", one.provider, one.instance)),
                                            rank_of(table.columns.size())));
            means.push_back(means_of(one));
        }
        std::size_t m = 0;
        for (const auto& measure : ranking.scores.measures) {
            Cell name{.text = measure_title(measure.measure),
                      .tone = measure.counts ? Tone::plain : Tone::weak};
            if (!measure.found)
                name.notes.push_back(say<text::procure::nowhere>(plain(
                    list_of(measure_of(found.profiles, {.measure = measure.measure}).where, 6))));
            else if (!measure.counts)
                name.notes.push_back(say<text::procure::no_common>());
            else if (!measure.series.empty())
                name.notes.push_back(say<text::procure::from_series>(list_of(measure.series, 3)));
            if (measure.found && !measure.left_out.empty())
                name.notes.push_back(
                    say<text::procure::left_out_series>(list_of(measure.left_out, 3)));
            if (measure.multiplied) name.notes.push_back(say<text::procure::multiplied>());
            Row row{.cells = {std::move(name), percent_cell(measure.weight)}};
            for (const auto& own : means)
                row.cells.push_back(measure.counts ? ratio_cell(std::exp(own[m] - means[0][m]))
                                                   : Cell{});
            if (measure.counts) ++m;
            table.rows.push_back(std::move(row));
        }
        return table;
    }

    /// For the workbook alone where the machine is all that costs.
    Table cost_parts_table() const {
        Table table{.columns = {{.title = say<text::offers::offer>()},
                                numeric(say<text::procure::part_machine>()),
                                numeric(say<text::procure::part_power>(), 2),
                                numeric(say<text::procure::part_other>(), 1),
                                numeric(say<text::procure::part_failures>(), 1),
                                numeric(say<text::procure::total>()),
                                numeric(say<text::procure::energy_month>(), 2)},
                    .sheet = say<text::procure::costs_title>(),
                    .only_workbook = true};
        for (const auto& offer : offers_) {
            const auto& hour = offer.hour;
            Row row{.cells = {{.text = offer_name(offer.cost.offer)}}};
            for (const double part : {hour.machine, hour.power, hour.other, hour.failures})
                row.cells.push_back(part > 0 ? money_cell(part) : Cell{});
            row.cells.push_back(money_cell(hour.total()));
            auto energy = cell_of(offer.cost.lines.find("energy_month"));
            row.cells.push_back(energy.number ? std::move(energy) : Cell{});
            table.rows.push_back(std::move(row));
            table.only_workbook &= !(hour.power + hour.other + hour.failures > 0);
        }
        return table;
    }

    std::vector<Block> included() const {
        const auto names = [](const std::vector<std::string>& keys) {
            std::vector<std::string> list;
            for (const auto& key : keys) list.push_back(name_of_line(key));
            return list_of(list, keys.size());
        };
        std::vector<Block> blocks{Paragraph{
            .text = ranking.parts.empty() ? say<text::procure::nothing_else>()
                                          : say<text::procure::counted>(names(ranking.parts))}};
        if (!ranking.left_out.empty()) {
            MissingInputs missing{cost_settings()};
            for (const auto& offer : offers_) missing.add(offer.cost.lines, ranking.left_out);
            blocks.emplace_back(Paragraph{
                .text = say<text::procure::not_counted>(names(ranking.left_out), missing.text()),
                .tone = Tone::quiet});
        }
        return blocks;
    }

    const std::vector<RankedOffer>& offers_;
};

} // namespace

Document make_document(const Procurement& found) { return Showing{found}.take(); }

} // namespace assay::purchase
