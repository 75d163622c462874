// SPDX-License-Identifier: Apache-2.0

#include "purchase/offer_document.hpp"

#include "base/console.hpp"
#include "document/language.hpp"
#include "document/lint.hpp"
#include "document/text.hpp"
#include "document/texts/limits.hpp"
#include "document/texts/offers.hpp"
#include "document/texts/words.hpp"

#include <fmt/format.h>

#include <utility>

namespace assay::purchase {
namespace {

using namespace document;

Cell money(double value, const std::string& currency) {
    return {.text = money_in_words(value, currency), .number = value, .unit = currency};
}

std::string value_of(std::string_view key, double value, const std::string& /*currency*/) {
    const bool is_share = key.ends_with("_share") || key == "availability" || key == "durability";
    if (is_share) return fmt::format("{:.12g}%", 100 * value);
    for (const auto& [ending, unit] :
         {std::pair{"_gib", " GiB"}, {"_gb", " GB"}, {"_gbps", " Gb/s"}, {"_ms", " ms"}})
        if (key.ends_with(ending)) return fmt::format("{:g}{}", value, unit);
    return fmt::format("{:g}", value);
}
std::string value_of(std::string_view /*key*/, const Amount& amount, const std::string& currency) {
    return fmt::format("{} {}", currency, plain(amount.text));
}

/// Lines of what a node has, of what is paid beside its price, and of what is promised: "8 × H100, 192 vCPU, 2048 GiB".
std::vector<std::string> notes_of(const Offer& offer) {
    std::vector<std::string> notes;
    std::vector<std::string> parts;
    const auto end_line = [&] {
        if (!parts.empty()) notes.push_back(join(parts));
        parts.clear();
    };
    each_field(
        [&](std::string_view key, const auto& member) {
            if (key == "tariff" || key == "availability") end_line();
            const auto form = find_text("offer_figure", key);
            if (!form) return;
            const auto add = [&](const std::string& text) {
                parts.push_back(fmt::format(fmt::runtime(*form), text));
            };
            if constexpr (requires { value_of(key, *member, offer.currency); }) {
                if (member) add(value_of(key, *member, offer.currency));
            } else if constexpr (requires { plain(member); }) {
                if (key == "gpu" && offer.gpus.value_or(0) > 0)
                    add(fmt::format("{:g} × {}", *offer.gpus,
                                    member.empty() ? "GPU" : plain(member)));
                else if (key != "gpu" && !member.empty())
                    add(plain(member));
            }
        },
        offer);
    end_line();
    return notes;
}

Row row_of(const Offer& offer, const Offers& offers, const PriceTerms& terms) {
    const auto price = price_of(offer, offers.rates, terms);
    Cell name{.text = plain(offer.id), .notes = notes_of(offer)};
    if (!offer.source.empty() || !offer.date.empty())
        name.notes.push_back(say<text::offers::source>(plain(offer.source), plain(offer.date)));
    if (!price.exchanged.source.empty())
        name.notes.push_back(say<text::offers::exchanged>(plain(price.exchanged.source)));
    if (!offer.note.empty()) name.notes.push_back(plain(offer.note));
    Cell quote;
    if (offer.price)
        quote = {.text = fmt::format("{} {}", offer.currency, plain(offer.price->text)),
                 .number = offer.price->value,
                 .unit = offer.currency};
    Cell hour;
    if (price.state != PriceState::known) {
        hour = {.text = in_words(price.state), .tone = Tone::weak};
        name.tone = Tone::weak;
    } else if (price.hour) {
        hour = money(*price.hour, price.currency);
    }
    const double gpus = offer.gpus.value_or(0);
    return {.cells = {std::move(name),
                      {.text = in_words(offer.tariff)},
                      std::move(quote),
                      std::move(hour),
                      price.hour && gpus > 0 ? money(*price.hour / gpus, price.currency) : Cell{}}};
}

} // namespace

std::string offer_name(const Offer& offer) {
    return say<text::words::in_brackets>(
        plain(fmt::format("{} {}", offer.provider, offer.instance)), in_words(offer.tariff));
}
std::string in_words(Tariff tariff) {
    return std::string{find_text("tariff", to_string(tariff)).value_or(to_string(tariff))};
}

Document make_document(const Offers& offers, const PriceTerms& terms, std::size_t doubts) {
    Table table{.columns = {{.title = say<text::offers::offer>()},
                            {.title = say<text::offers::tariff>(), .rank = 1},
                            {.title = say<text::offers::price>(), .numeric = true},
                            {.title = say<text::offers::node_hour>(), .numeric = true},
                            {.title = say<text::offers::gpu_hour>(), .numeric = true, .rank = 2}},
                .sheet = say<text::offers::kicker>()};
    std::size_t unpriced = 0;
    for (const auto& offer : offers.offers) {
        if (price_of(offer, offers.rates, terms).state != PriceState::known) ++unpriced;
        table.rows.push_back(row_of(offer, offers, terms));
    }
    const auto count = say_count<text::offers::count>(offers.offers.size());
    Document document{.kind = "offers",
                      .kicker = say<text::offers::kicker>(),
                      .title = offers.name.empty() ? count : plain(offers.name),
                      .verdict = unpriced == 0 ? say<text::offers::all_priced>(count)
                                               : say<text::offers::some_unpriced>(count, unpriced),
                      .tone = unpriced == 0 ? Tone::plain : Tone::weak};
    document.sections.push_back(
        {.title = say<text::offers::kicker>(), .blocks = {std::move(table)}, .heading = false});
    if (doubts > 0)
        document.foot.push_back(
            {.text = say<text::offers::doubtful>(say_count<text::limits::findings>(doubts)),
             .tone = Tone::weak});
    document.foot.push_back(
        {.text = say<text::offers::method>(fmt::format("{:g}", terms.max_age_days)),
         .tone = Tone::quiet});
    return document;
}

std::string to_json(const Offers& offers, const PriceTerms& terms) {
    json::Value list = json::Value::array();
    for (const auto& offer : offers.offers) {
        const auto price = price_of(offer, offers.rates, terms);
        auto one = json::encode(offer);
        one["state"] = to_string(price.state);
        one["node_hour"] = json::encode(price.hour);
        one["shown_in"] = price.currency;
        one["exchanged"] = price.exchanged.source;
        list.push_back(std::move(one));
    }
    return json::to_text({{"schema", "assay.offers.shown/1"},
                          {"name", offers.name},
                          {"rates", json::encode(offers.rates)},
                          {"offers", std::move(list)}});
}

Document make_document(const LintedOffers& linted) {
    const auto& rows = linted.findings;
    return lint_document(say<text::offers::kicker>(),
                         say<text::offers::lint_title>(list_of(linted.files, 3)),
                         say_count<text::offers::count>(linted.offers),
                         say<text::offers::lint_found>(
                             say_count<text::limits::findings>(rows.size()), serious_of(rows)),
                         linted.files, rows);
}

std::string to_json(const LintedOffers& linted) {
    return json::to_text({{"schema", "assay.offers.lint/1"},
                          {"files", linted.files},
                          {"offers", linted.offers},
                          {"serious", serious_of(linted.findings)},
                          {"findings", lint_rows(linted.findings, "offer")}});
}

} // namespace assay::purchase
