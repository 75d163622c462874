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

/// "8 × H100, 192 vCPU, 2048 GiB": what one pays for, as far as it is known.
std::string included_in(const Offer& offer) {
    std::vector<std::string> parts;
    const auto add = [&](const std::optional<double>& value, const char* form) {
        if (value) parts.push_back(fmt::format(fmt::runtime(form), *value));
    };
    if (offer.gpus.value_or(0) > 0)
        parts.push_back(
            fmt::format("{:g} × {}", *offer.gpus, offer.gpu.empty() ? "GPU" : plain(offer.gpu)));
    add(offer.vcpus, "{:g} vCPU");
    if (offer.cores) parts.push_back(say<text::offers::cores>(fmt::format("{:g}", *offer.cores)));
    add(offer.memory_gib, "{:g} GiB");
    if (offer.local_disk_gb)
        parts.push_back(
            say<text::offers::local_disk>(fmt::format("{:g} GB", *offer.local_disk_gb)));
    add(offer.network_gbps, "{:g} Gb/s");
    return join(parts);
}

std::string promised_in(const Offer& offer) {
    std::vector<std::string> parts;
    const auto share = [](double value) { return fmt::format("{:.12g}%", 100 * value); };
    if (offer.availability)
        parts.push_back(say<text::offers::availability>(share(*offer.availability)));
    if (offer.durability) parts.push_back(say<text::offers::durability>(share(*offer.durability)));
    if (offer.bandwidth_gbps)
        parts.push_back(say<text::offers::bandwidth>(fmt::format("{:g}", *offer.bandwidth_gbps)));
    if (offer.replacement_hours)
        parts.push_back(
            say<text::offers::replacement>(fmt::format("{:g}", *offer.replacement_hours)));
    if (offer.lead_time_days)
        parts.push_back(say<text::offers::lead_time>(fmt::format("{:g}", *offer.lead_time_days)));
    for (const auto* label : {&offer.residency, &offer.compliance})
        if (!label->empty()) parts.push_back(plain(*label));
    return join(parts);
}

/// What is paid beside the price, and by which steps, in the currency of the quote.
std::string billed_in(const Offer& offer) {
    std::vector<std::string> parts;
    const auto add = [&](const std::optional<Amount>& amount, auto say_it) {
        if (amount) parts.push_back(say_it(fmt::format("{} {}", offer.currency, amount->text)));
    };
    add(offer.upfront, [](const auto& one) { return say<text::offers::upfront>(one); });
    add(offer.storage_per_gb_month,
        [](const auto& one) { return say<text::offers::storage>(one); });
    add(offer.egress_per_gb, [](const auto& one) { return say<text::offers::egress>(one); });
    add(offer.network_per_month, [](const auto& one) { return say<text::offers::network>(one); });
    add(offer.control_plane_per_month,
        [](const auto& one) { return say<text::offers::control>(one); });
    add(offer.support_per_month, [](const auto& one) { return say<text::offers::support>(one); });
    if (offer.support_share)
        parts.push_back(
            say<text::offers::support_share>(fmt::format("{:.6g}%", 100 * *offer.support_share)));
    add(offer.setup, [](const auto& one) { return say<text::offers::setup>(one); });
    if (offer.billing_step_s)
        parts.push_back(say<text::offers::step>(fmt::format("{:g}", *offer.billing_step_s)));
    if (offer.minimum_hours)
        parts.push_back(say<text::offers::minimum>(fmt::format("{:g}", *offer.minimum_hours)));
    if (offer.interruptions_per_hour)
        parts.push_back(
            say<text::offers::interrupted>(fmt::format("{:g}", *offer.interruptions_per_hour)));
    return join(parts);
}

Row row_of(const Offer& offer, const Offers& offers, const PriceTerms& terms) {
    const auto price = price_of(offer, offers.rates, terms);
    Cell name{.text = plain(offer.id)};
    for (auto line : {included_in(offer), billed_in(offer), promised_in(offer)})
        if (!line.empty()) name.notes.push_back(std::move(line));
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

std::vector<std::string> names_of(const std::vector<LintedOffers>& files) {
    std::vector<std::string> names;
    for (const auto& file : files) names.push_back(file.file);
    return names;
}

std::vector<LintRow> rows_of(const std::vector<LintedOffers>& files) {
    std::vector<LintRow> rows;
    for (const auto& file : files)
        for (const auto& one : file.findings) {
            rows.push_back(one);
            rows.back().file = file.file;
        }
    return rows;
}

std::size_t offers_in(const std::vector<LintedOffers>& files) {
    std::size_t offers = 0;
    for (const auto& file : files) offers += file.offers;
    return offers;
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
        auto one = to_json(offer);
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

Document make_document(const std::vector<LintedOffers>& files) {
    const auto rows = rows_of(files);
    return lint_document(say<text::offers::kicker>(),
                         say<text::offers::lint_title>(list_of(names_of(files), 3)),
                         say_count<text::offers::count>(offers_in(files)),
                         say<text::offers::lint_found>(
                             say_count<text::limits::findings>(rows.size()), serious_of(rows)),
                         names_of(files), rows);
}

std::string to_json(const std::vector<LintedOffers>& files) {
    const auto rows = rows_of(files);
    return json::to_text({{"schema", "assay.offers.lint/1"},
                          {"files", names_of(files)},
                          {"offers", offers_in(files)},
                          {"serious", serious_of(rows)},
                          {"findings", lint_rows(rows, "offer")}});
}

bool any_serious(const std::vector<LintedOffers>& files) { return serious_of(rows_of(files)) > 0; }

} // namespace assay::purchase
