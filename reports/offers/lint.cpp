// SPDX-License-Identifier: Apache-2.0

#include "offers/lint.hpp"

#include "base/console.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/offers.hpp"
#include "reference/catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

namespace assay::offers {

using namespace document;
namespace {

using document::LintRow;
using document::Severity;

/// Offers alike are nearer to each other than this.
constexpr double apart = 3;
constexpr std::size_t shown = 3;
/// Of one kind; the rest are counted.
constexpr std::size_t most = 50;

class Linter {
public:
    Linter(const OffersRead& read, const PriceTerms& terms, const store::Collection* runs,
           const reference::Hardware* hardware)
        : read_{read}, offers_{read.offers.offers}, terms_{terms}, runs_{runs},
          hardware_{hardware} {}

    std::vector<LintRow> take() {
        for (const auto& fault : read_.faults)
            found_.push_back({.code = to_string(OfferCode::unreadable),
                              .what = plain(fault),
                              .instead = say<text::offers::by_schema>()});
        if (read_.skipped > 0)
            found_.push_back({.code = to_string(OfferCode::skipped_lines),
                              .severity = Severity::note,
                              .what = say_count<text::offers::skipped>(read_.skipped)});
        currencies();
        prices();
        siblings();
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

    void currencies() {
        std::set<std::string> all;
        for (const auto& offer : offers_)
            if (offer.price) all.insert(offer.currency);
        if (!terms_.currency.empty()) all.insert(terms_.currency);
        for (const auto& currency : all) {
            const auto& first = terms_.currency.empty() ? *all.begin() : terms_.currency;
            const auto state = exchange(read_.offers.rates, currency, first, terms_).state;
            if (state == PriceState::known) continue;
            found_.push_back({.code = to_string(OfferCode::mixed_currencies),
                              .what = say<text::offers::mixed>(currency, first, in_words(state)),
                              .instead = say<text::offers::give_rate>()});
        }
    }

    /// In the currencies of the quotes: exchange is a matter of currencies().
    void prices() {
        PriceTerms own = terms_;
        own.currency.clear();
        std::map<PriceState, std::vector<std::string>> unpriced;
        for (const auto& offer : offers_)
            if (const auto state = price_of(offer, {}, own).state; state != PriceState::known)
                unpriced[state].push_back(plain(offer.id));
        for (const auto& [state, ids] : unpriced)
            found_.push_back(
                {.code = to_string(OfferCode::unpriced),
                 .severity = state == PriceState::future ? Severity::serious : Severity::caution,
                 .what = say<text::offers::unpriced>(list_of(ids, shown), in_words(state)),
                 .instead = say<text::offers::ask_again>()});
    }

    /// Offers of one GPU, or of one type of machine, under one tariff; prices of old quotes too, which slips do not
    /// care about.
    void siblings() {
        using Sibling = std::pair<const Offer*, double>;
        std::map<std::string, std::vector<Sibling>> groups;
        for (const auto& offer : offers_) {
            if (!offer.price || offer.tariff == Tariff::purchase) continue;
            const bool has_gpus = !offer.gpu.empty() && offer.gpus.value_or(0) >= 1;
            const auto key =
                fmt::format("{}\n{}\n{}", to_string(offer.tariff), offer.currency,
                            has_gpus ? offer.gpu : '\n' + offer.provider + offer.instance);
            groups[key].emplace_back(&offer, offer.price->value / (has_gpus ? *offer.gpus : 1));
        }
        for (auto& [key, group] : groups) {
            if (group.size() < 2) continue;
            std::vector<double> sorted;
            for (const auto& sibling : group) sorted.push_back(sibling.second);
            std::ranges::sort(sorted);
            for (const auto& [offer, price] : group) {
                // Of two the other one; of more the median, which one of them hardly moves.
                const double usual = sorted.size() == 2 ? sorted[price == sorted[0] ? 1 : 0]
                                                        : sorted[sorted.size() / 2];
                one(*offer, price, usual);
            }
        }
    }
    void one(const Offer& offer, double price, double usual) {
        const double gpus = offer.gpus.value_or(1);
        constexpr double few = 4;
        const auto own = money_in_words(price, offer.currency);
        const auto others = money_in_words(usual, offer.currency);
        const double likeness = std::min(std::numbers::ln2, 0.5 * std::log(std::max(gpus, 1.0)));
        if (gpus >= 2 && std::abs(std::log(price * gpus / usual)) < likeness)
            add(OfferCode::gpu_price, offer,
                say<text::offers::gpu_price>(own, others, fmt::format("{:g}", gpus)),
                say<text::offers::node_price>(),
                gpus >= few ? Severity::serious : Severity::caution); // half the price may be meant
        else if (price > apart * usual)
            add(OfferCode::price_differs, offer, say<text::offers::differs>(own, others),
                say<text::offers::compare_quotes>(), Severity::caution);
    }

    const record::Machine* machine_of(const Offer& offer) const {
        if (runs_ == nullptr) return nullptr;
        const auto found = std::ranges::find_if(
            runs_->machines, [&](const auto& machine) { return is_of(offer, machine, hardware_); });
        return found == runs_->machines.end() ? nullptr : &*found;
    }

    void cores() {
        for (const auto& offer : offers_) {
            if (!offer.cores) continue;
            const auto* machine = machine_of(offer);
            const auto cores = machine != nullptr ? machine->cores : std::nullopt;
            if (cores ? *offer.cores > *cores : offer.vcpus && *offer.cores > *offer.vcpus)
                add(OfferCode::vcpu_as_core, offer,
                    say<text::offers::more_cores>(
                        fmt::format("{:g}", *offer.cores),
                        fmt::format("{:g}", cores ? *cores : *offer.vcpus)),
                    say<text::offers::count_cores>());
            else if (!cores && offer.vcpus && *offer.cores == *offer.vcpus)
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
            compare("gpus", offer.gpus, known->gpus);
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
            found_.push_back({.code = to_string(OfferCode::no_results),
                              .severity = Severity::caution,
                              .what = say<text::offers::no_results>(list_of(unmeasured, shown)),
                              .instead = say<text::offers::measure>()});
        if (const auto types = not_offered(offers_, *runs_, hardware_); !types.empty())
            found_.push_back({.code = to_string(OfferCode::no_offer),
                              .severity = Severity::note,
                              .what = say<text::offers::no_offer>(list_of(types, shown))});
    }

    const OffersRead& read_;
    const std::vector<Offer>& offers_;
    const PriceTerms& terms_;
    const store::Collection* runs_;
    const reference::Hardware* hardware_;
    std::map<OfferCode, std::size_t> counts_;
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

} // namespace assay::offers
