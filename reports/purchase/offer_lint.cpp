// SPDX-License-Identifier: Apache-2.0

#include "base/console.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/offers.hpp"
#include "purchase/offer_document.hpp"
#include "reference/catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <tuple>
#include <utility>

namespace assay::purchase {

using namespace document;
namespace {

using document::LintRow;
using document::Severity;

/// Offers alike are nearer to each other than this.
constexpr double apart = 3;
constexpr std::size_t shown = 3;
/// Findings of one kind that are listed; the rest are counted.
constexpr std::size_t most = 50;

class Linter {
public:
    Linter(const OffersRead& read, const PriceTerms& terms, const store::Collection* runs,
           const reference::Hardware* hardware)
        : read_{read}, offers_{read.offers.offers}, terms_{terms}, runs_{runs},
          hardware_{hardware} {}

    std::vector<LintRow> take() {
        for (const auto& fault : read_.faults)
            add(OfferCode::unreadable, Severity::serious, plain(fault),
                say<text::offers::by_schema>());
        if (read_.skipped > 0)
            add(OfferCode::skipped_lines, Severity::note,
                say_count<text::offers::skipped>(read_.skipped), "");
        currencies();
        prices();
        pairs();
        quotes();
        cores();
        if (hardware_ != nullptr) catalogue();
        if (runs_ != nullptr) results();
        return std::move(found_);
    }

private:
    void add(OfferCode code, const Offer& offer, std::string what, std::string instead,
             Severity severity = Severity::serious) {
        if (++counts_[code] > most) return;
        found_.push_back({.code = to_string(code),
                          .severity = severity,
                          .about = plain(offer.id),
                          .where = plain(offer.where),
                          .what = std::move(what),
                          .instead = std::move(instead)});
    }

    /// A finding about several offers.
    void add(OfferCode code, Severity severity, std::string what, std::string instead) {
        found_.push_back({.code = to_string(code),
                          .severity = severity,
                          .what = std::move(what),
                          .instead = std::move(instead)});
    }

    void currencies() {
        std::set<std::string> all;
        for (const auto& offer : offers_)
            if (offer.price) all.insert(offer.currency);
        if (!terms_.currency.empty()) all.insert(terms_.currency);
        for (const auto& currency : all) {
            const auto& first = terms_.currency.empty() ? *all.begin() : terms_.currency;
            const auto state = exchange(read_.offers.rates, currency, first, terms_).state;
            if (state == PriceState::known) continue;
            add(OfferCode::mixed_currencies, Severity::serious,
                say<text::offers::mixed>(currency, first, in_words(state)),
                say<text::offers::give_rate>());
        }
    }

    /// In the currencies of the quotes: exchange is a matter of currencies().
    void prices() {
        PriceTerms own = terms_;
        own.currency.clear();
        own.hardware = nullptr; // quotes() names those that are not the node's
        std::map<PriceState, std::vector<std::string>> unpriced;
        for (const auto& offer : offers_)
            if (const auto state = price_of(offer, {}, own).state; state != PriceState::known)
                unpriced[state].push_back(plain(offer.id));
        for (const auto& [state, ids] : unpriced)
            add(OfferCode::unpriced,
                state == PriceState::future ? Severity::serious : Severity::caution,
                say<text::offers::unpriced>(list_of(ids, shown), in_words(state)),
                say<text::offers::ask_again>());
    }

    // --- prices beside each other -----------------------------------------------------------------

    /// A price of an hour as quoted, old ones too, which slips do not care about.
    struct Quote {
        const Offer* offer;
        double node;
        double gpus; ///< 1 for a node without any
        bool named = false;
        double unit() const { return node / gpus; }
    };
    void name(Quote& quote, OfferCode code, std::string what, std::string instead,
              Severity severity = Severity::caution) {
        quote.named = true;
        add(code, *quote.offer, std::move(what), std::move(instead), severity);
    }

    void quotes() {
        std::map<std::string, std::vector<Quote>> alike; // one GPU, or one type, under one tariff
        for (const auto& offer : offers_) {
            if (!offer.price || offer.tariff == Tariff::purchase) continue;
            PriceTerms own = terms_;
            own.hardware = hardware_;
            const auto state = price_of(offer, {}, own).state;
            if (state == PriceState::host_only || state == PriceState::part_of_node) {
                add(OfferCode::not_node_price, offer,
                    say<text::offers::not_node>(in_words(state), known_as(offer)),
                    say<text::offers::node_price>());
                continue;
            }
            const bool has_gpus = !offer.gpu.empty() && offer.gpus.value_or(0) > 0;
            Quote quote{
                .offer = &offer, .node = quoted_hour(offer), .gpus = has_gpus ? *offer.gpus : 1};
            if (is_no_price(quote, has_gpus)) continue;
            alike[fmt::format("{}\n{}\n{}", to_string(offer.tariff), offer.currency,
                              has_gpus ? gpu_of(offer) : '\n' + offer.provider + offer.instance)]
                .push_back(quote);
        }
        for (auto& [key, group] : alike) {
            std::map<std::string, std::vector<Quote*>> families;
            for (auto& quote : group)
                families[quote.offer->provider + '\n' + quote.offer->region].push_back(&quote);
            for (auto& [where, family] : families) growth(family);
        }
        one_for_all(alike);
        for (auto& [key, group] : alike) siblings(group);
    }

    std::string known_as(const Offer& offer) const {
        const auto* type = find_instance(*hardware_, offer.provider, offer.instance);
        return fmt::format("{:g} × {}", *type->gpus, type->gpu);
    }
    std::vector<reference::CatalogEntry> gpus_like(const std::string& name) {
        const auto [found, is_new] = gpus_.try_emplace(name);
        if (is_new && hardware_ != nullptr)
            found->second = reference::entries_like(*hardware_, name, reference::Kind::accelerator);
        return found->second;
    }
    /// By the catalogue's id, where the name is that of one GPU.
    std::string gpu_of(const Offer& offer) {
        const auto like = gpus_like(offer.gpu);
        return like.size() == 1 ? like.front().sheet->id : offer.gpu;
    }

    /// Judged alone: a number that stands for none, or one that no market has.
    bool is_no_price(Quote& quote, bool has_gpus) {
        const auto& offer = *quote.offer;
        const auto& text = offer.price->text;
        const auto whole = text.substr(0, text.find('.'));
        const bool nines = whole.size() >= 3 && text.find_first_not_of("9.") == text.npos;
        constexpr double token = 0.01;
        const auto price = fmt::format("{} {}", offer.currency, plain(text));
        if (nines || (has_gpus && offer.price->value <= token && gpus_like(offer.gpu).empty()))
            name(quote, OfferCode::placeholder, say<text::offers::stands_for_none>(price),
                 say<text::offers::leave_out>());
        const auto [least, most] = plausible(offer, has_gpus);
        if (!quote.named && (quote.unit() < least || quote.unit() > most))
            name(quote, OfferCode::implausible,
                 say<text::offers::implausible>(money_in_words(quote.unit(), offer.currency),
                                                money_in_words(least, offer.currency),
                                                money_in_words(most, offer.currency)),
                 say<text::offers::compare_quotes>());
        return quote.named;
    }
    /// Price limits per GPU-hour, in the currency of the offer, from the GPU's memory: market prices per GB are between
    /// USD 0.002 and USD 0.6 (markets of single consumer cards and spot T4: 0.003; V100 on demand: 0.19).
    std::pair<double, double> plausible(const Offer& offer, bool has_gpus) {
        constexpr double least_usd = 0.002;
        constexpr double most_usd = 0.6;
        const auto usd = exchange(read_.offers.rates, "USD", offer.currency, terms_);
        std::pair<double, double> range{0, INFINITY};
        if (!has_gpus || usd.state == PriceState::no_rate) return range;
        double smallest = INFINITY;
        double largest = 0;
        for (const auto& like : gpus_like(offer.gpu)) {
            const double gigabytes = like.accelerator->memory_bytes.value_or(0) / 1e9;
            if (gigabytes <= 0) return range;
            smallest = std::min(smallest, gigabytes);
            largest = std::max(largest, gigabytes);
        }
        if (largest > 0)
            range = {least_usd * smallest * usd.factor, most_usd * largest * usd.factor};
        return range;
    }

    /// Finds, within one provider, region and GPU, prices equal to that of fewer GPUs whose price per GPU is unique.
    void growth(const std::vector<Quote*>& family) {
        constexpr double near = 1.5;           // larger nodes are a little cheaper or dearer a GPU
        std::map<double, const Quote*> fewest; // GPUs for a price
        std::set<std::pair<double, double>> units;
        for (const auto* quote : family) {
            auto& best = fewest[quote->node];
            if (best == nullptr || quote->gpus < best->gpus) best = quote;
            units.emplace(quote->unit(), quote->node);
        }
        for (auto* quote : family) {
            const auto* const smaller = fewest[quote->node];
            bool agrees = false;
            for (auto at = units.lower_bound({quote->unit() / near, 0});
                 at != units.end() && at->first <= near * quote->unit() && !agrees; ++at)
                agrees = at->second != quote->node;
            if (smaller->gpus >= quote->gpus || agrees) continue;
            constexpr double few = 4; // half the price may be meant
            name(*quote, OfferCode::gpu_price,
                 say<text::offers::no_growth>(money_in_words(quote->node, quote->offer->currency),
                                              fmt::format("{:g}", quote->gpus),
                                              fmt::format("{:g}", smaller->gpus)),
                 say<text::offers::node_price>(),
                 quote->gpus >= few ? Severity::serious : Severity::caution);
        }
    }

    /// One price of a provider for types of many sizes is nobody's.
    void one_for_all(std::map<std::string, std::vector<Quote>>& alike) {
        std::map<std::tuple<std::string, Tariff, std::string, double>, std::vector<Quote*>> equal;
        for (auto& [key, group] : alike)
            for (auto& quote : group)
                if (const auto& o = *quote.offer; !quote.named && (o.vcpus || !o.gpu.empty()))
                    equal[{o.provider, o.tariff, o.currency, quote.node}].push_back(&quote);
        for (auto& [key, quotes] : equal) {
            std::set<std::tuple<std::string, double, double>> sizes;
            std::set<std::string> kinds;
            double least = INFINITY;
            double most = 0;
            for (const auto* quote : quotes) {
                const auto& o = *quote->offer;
                sizes.emplace(o.gpu, o.gpus.value_or(0), o.vcpus.value_or(0));
                kinds.insert(o.gpu);
                const double size = o.gpu.empty() ? *o.vcpus : quote->gpus;
                least = std::min(least, size);
                most = std::max(most, size);
            }
            constexpr std::size_t several = 3;
            constexpr double wide = 4;
            if (sizes.size() < several || (kinds.size() < several && most < wide * least)) continue;
            for (auto* quote : quotes)
                name(*quote, OfferCode::placeholder,
                     say<text::offers::one_for_all>(
                         money_in_words(quote->node, quote->offer->currency), sizes.size()),
                     say<text::offers::leave_out>());
        }
    }

    /// The majority is right: those that are near the median, if they are more than half.
    void siblings(std::vector<Quote>& all) {
        std::vector<Quote*> group;
        for (auto& quote : all)
            if (!quote.named) group.push_back(&quote);
        if (group.size() < 2) return;
        std::ranges::sort(group, {}, [](const auto* quote) { return quote->unit(); });
        const auto* dearest = group.back();
        const auto* median = group[group.size() / 2];
        const auto is_near = [&](const Quote* quote) { return !differs(*quote, *median); };
        const bool decided =
            2 * std::ranges::count_if(group, is_near) > static_cast<std::ptrdiff_t>(group.size());
        const auto* usual = decided ? median : dearest;
        bool told = false; // of two answers one is wrong: the cheapest is named
        for (auto* quote : group) {
            const auto own = money_in_words(quote->unit(), quote->offer->currency);
            const auto others = money_in_words(usual->unit(), quote->offer->currency);
            const double gpus = quote->gpus;
            const double likeness =
                std::min(std::numbers::ln2, 0.5 * std::log(std::max(gpus, 1.0)));
            constexpr double few = 4; // of fewer, half the price may be meant
            if (gpus >= 2 && std::abs(std::log(quote->node / usual->unit())) < likeness)
                name(*quote, OfferCode::gpu_price,
                     say<text::offers::gpu_price>(own, others, fmt::format("{:g}", gpus)),
                     say<text::offers::node_price>(),
                     gpus >= few ? Severity::serious : Severity::caution);
            else if (differs(*quote, *usual) && (decided || !std::exchange(told, true)))
                name(*quote, OfferCode::price_differs, say<text::offers::differs>(own, others),
                     say<text::offers::compare_quotes>());
        }
    }
    /// By more than a factor of 3, and by more than processors a GPU explain.
    static bool differs(const Quote& one, const Quote& other) {
        double allowed = apart;
        const double ratio = one.unit() / other.unit();
        if (one.offer->vcpus && other.offer->vcpus) {
            const double more = *one.offer->vcpus / one.gpus * other.gpus / *other.offer->vcpus;
            allowed *= std::max(1.0, ratio > 1 ? more : 1 / more);
        }
        return ratio > allowed || ratio < 1 / allowed;
    }

    /// The same type twice, and spot prices that are none.
    void pairs() {
        std::map<std::string, const Offer*> first;
        std::vector<std::string> spot;
        std::vector<std::string> again;
        const auto key = [](const Offer& offer, Tariff tariff) {
            return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", offer.provider, offer.instance,
                               offer.region, offer.zone, to_string(tariff), offer.currency,
                               offer.gpus.value_or(0));
        };
        for (const auto& offer : offers_) {
            // Names that people give tell offers apart.
            if (!offer.id.starts_with(offer.provider + ' ' + offer.instance)) continue;
            if (!first.try_emplace(key(offer, offer.tariff), &offer).second)
                again.push_back(plain(offer.id));
        }
        for (const auto& [own, offer] : first) {
            const auto on_demand = first.find(key(*offer, Tariff::on_demand));
            if (offer->tariff == Tariff::spot && offer->price && on_demand != first.end() &&
                on_demand->second->price && offer->price->value >= on_demand->second->price->value)
                spot.push_back(plain(offer->id));
        }
        if (!again.empty())
            add(OfferCode::duplicate, Severity::caution,
                say<text::offers::duplicate>(list_of(again, shown)), say<text::offers::keep_one>());
        if (!spot.empty())
            add(OfferCode::spot_as_on_demand, Severity::caution,
                say<text::offers::spot_as_on_demand>(list_of(spot, shown)),
                say<text::offers::compare_quotes>());
    }

    const record::Machine* machine_of(const Offer& offer) const {
        if (runs_ == nullptr) return nullptr;
        const auto found = std::ranges::find_if(
            runs_->machines, [&](const auto& machine) { return is_of(offer, machine, hardware_); });
        return found == runs_->machines.end() ? nullptr : &*found;
    }

    void cores() {
        for (const auto& offer : offers_) {
            const auto* machine = machine_of(offer);
            const bool is_counted = machine != nullptr && machine->cores;
            const auto most = is_counted ? std::optional<double>{*machine->cores} : offer.vcpus;
            if (!offer.cores || !most || *offer.cores < *most) continue;
            if (*offer.cores > *most)
                add(OfferCode::vcpu_as_core, offer,
                    say<text::offers::more_cores>(fmt::format("{:g}", *offer.cores),
                                                  fmt::format("{:g}", *most)),
                    say<text::offers::count_cores>());
            else if (!is_counted)
                add(OfferCode::vcpu_as_core, offer,
                    say<text::offers::threads>(fmt::format("{:g}", *offer.cores)),
                    say<text::offers::count_cores>(), Severity::caution);
        }
    }

    /// Figures of the offer and of its type in the catalogue; other sources of the catalogue count too.
    void catalogue() {
        for (const auto& offer : offers_) {
            if (const auto like =
                    reference::entries_like(*hardware_, offer.gpu, reference::Kind::accelerator);
                like.size() > 1)
                add(OfferCode::ambiguous_gpu, offer,
                    say<text::offers::ambiguous_gpu>(plain(offer.gpu), reference::list_of(like)),
                    say<text::offers::give_one>(), Severity::note);
            const auto* known =
                reference::find_instance(*hardware_, offer.provider, offer.instance);
            if (known == nullptr) continue;
            using Figure = const std::optional<double>&;
            const auto compare = [&](const char* key, Figure own, Figure there) {
                if (!own || !there) return;
                const auto is_near = [&](double value) {
                    constexpr double rounding = 0.02;
                    return std::abs(*own - value) <= rounding * value;
                };
                if (is_near(*there) ||
                    std::ranges::any_of(known->sheet.conflicts, [&](const auto& other) {
                        return other.of == key && other.value.is_number() &&
                               is_near(other.value.template get<double>());
                    }))
                    return;
                const auto& origin = known->sheet.figures.at(key).origin;
                add(OfferCode::catalog_differs, offer,
                    say<text::offers::catalog_differs>(key, fmt::format("{:g}", *own),
                                                       plain(known->sheet.id),
                                                       fmt::format("{:g}", *there)),
                    say<text::offers::see_source>(plain(origin.source)));
            };
            const double there = known->gpus.value_or(0);
            if (offer.gpus.value_or(there) >= there) compare("gpus", offer.gpus, known->gpus);
            compare("vcpus", offer.vcpus, known->vcpus);
            compare("cores", offer.cores, known->cores);
            compare("memory_gib", offer.memory_gib, known->memory_gib);
        }
    }

    void results() {
        std::vector<std::string> unmeasured;
        for (const auto& offer : offers_)
            if (machine_of(offer) == nullptr) unmeasured.push_back(plain(offer.id));
        if (!unmeasured.empty())
            add(OfferCode::no_results, Severity::caution,
                say<text::offers::no_results>(list_of(unmeasured, shown)),
                say<text::offers::measure>());
        if (const auto types = not_offered(offers_, *runs_, hardware_); !types.empty())
            add(OfferCode::no_offer, Severity::note,
                say<text::offers::no_offer>(list_of(types, shown)), "");
    }

    const OffersRead& read_;
    const std::vector<Offer>& offers_;
    const PriceTerms& terms_;
    const store::Collection* runs_;
    const reference::Hardware* hardware_;
    std::map<OfferCode, std::size_t> counts_;
    std::map<std::string, std::vector<reference::CatalogEntry>> gpus_;
    std::vector<LintRow> found_;
};

} // namespace

std::vector<LintRow> lint(const OffersRead& read, const PriceTerms& terms,
                          const store::Collection* runs, const reference::Hardware* hardware) {
    return Linter{read, terms, runs, hardware}.take();
}

std::vector<std::string> not_offered(const std::vector<Offer>& offers,
                                     const store::Collection& runs,
                                     const reference::Hardware* hardware) {
    std::set<std::string> types;
    for (const auto& machine : runs.machines)
        if (std::ranges::none_of(
                offers, [&](const auto& offer) { return is_of(offer, machine, hardware); }))
            types.insert(plain(machine.provider + ' ' + machine.instance));
    return {types.begin(), types.end()};
}

bool is_of(const Offer& offer, const record::Machine& machine,
           const reference::Hardware* hardware) {
    static const reference::Hardware none;
    const auto& names = hardware == nullptr ? none : *hardware;
    return offer.instance == machine.instance &&
           reference::provider_id(names, offer.provider) ==
               reference::provider_id(names, machine.provider);
}

} // namespace assay::purchase
