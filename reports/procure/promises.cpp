// SPDX-License-Identifier: Apache-2.0
#include "procure/promises.hpp"

#include "base/file.hpp"
#include "document/document.hpp"
#include "document/language.hpp"
#include "offers/lint.hpp"
#include "offers/rates.hpp"
#include "reference/catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace assay::procure {
namespace {

std::optional<double> number(const std::optional<int>& value) {
    return value ? std::optional<double>{*value} : std::nullopt;
}
std::optional<double> gpus_of(const record::Machine& machine) {
    return static_cast<double>(machine.devices.size());
}
std::optional<double> threads_of(const record::Machine& machine) { return number(machine.threads); }
std::optional<double> cores_of(const record::Machine& machine) { return number(machine.cores); }
std::optional<double> memory_of(const record::Machine& machine) {
    constexpr double gib = 1 << 30U;
    return machine.memory_bytes
               ? std::optional<double>{static_cast<double>(*machine.memory_bytes) / gib}
               : std::nullopt;
}

struct Promised {
    std::string_view code;
    std::string_view unit;
    std::optional<double> offers::Offer::* promised;
    std::optional<double> (*measured)(const record::Machine&);
};
constexpr std::array promised{Promised{"gpus", "count", &offers::Offer::gpus, gpus_of},
                              Promised{"vcpus", "count", &offers::Offer::vcpus, threads_of},
                              Promised{"cores", "count", &offers::Offer::cores, cores_of},
                              Promised{"memory", "GiB", &offers::Offer::memory_gib, memory_of}};

/// By the offer; GPUs else by the catalogue's entry of the type, by which they are priced too.
std::optional<double> value_of(const Promised& what, const offers::Offer& offer,
                               const reference::Hardware* hardware) {
    if (offer.*what.promised) return offer.*what.promised;
    if (what.code != "gpus" || hardware == nullptr || !offer.gpu.empty()) return {};
    const auto* const type = reference::find_instance(*hardware, offer.provider, offer.instance);
    return type != nullptr && type->gpus.value_or(0) > 0 ? type->gpus : std::nullopt;
}

/// What speaks most against the promise: the least of the machines, and a number of GPUs that is another.
std::optional<double> found_of(const Promised& what, double value, const offers::Offer& offer,
                               const store::Collection& runs, const reference::Hardware* hardware) {
    std::optional<double> worst;
    const bool exact = what.code == "gpus";
    const auto order = [&](double has) { return exact ? -std::abs(has - std::ceil(value)) : has; };
    for (const auto& machine : runs.machines)
        if (machine.instance == offer.instance)
            if (const auto has = what.measured(machine);
                has && (!worst || order(*has) < order(*worst)) && is_of(offer, machine, hardware))
                worst = has;
    return worst;
}

/// Of what a network carries between two nodes: the highest rate of a message, in Gb/s.
std::optional<double> network_of(const offers::Offer& offer, const store::Collection& runs,
                                 const reference::Hardware* hardware) {
    constexpr double bits = 8e-9;
    std::optional<double> best;
    for (const auto& seen : runs.observations) {
        const auto& series = runs.series[seen.series];
        if (series.benchmark != "network.put" || series.unit != "B/s" || !is_good(seen) ||
            nodes_of(seen, runs) < 2 ||
            !is_of(offer, runs.machines[runs.runs[seen.run].machine], hardware))
            continue;
        best = std::max(best.value_or(0), *seen.value * bits);
    }
    return best;
}

} // namespace

bool Promise::kept() const {
    if (!measured) return false;
    // More GPUs than promised are another machine too. Half a GPU is seen as one device.
    if (code == "gpus") return *measured == std::ceil(promised);
    // A few percent of memory belong to the firmware, and of a network to its headers; cores do not come in shares.
    constexpr double enough = 0.93;
    return *measured >= (unit == "count" ? promised : promised * enough);
}

std::vector<Promise> promises_of(const std::vector<offers::Offer>& offers,
                                 const store::Collection& runs,
                                 const reference::Hardware* hardware) {
    std::vector<Promise> found;
    // One row for what all tariffs of a type promise alike.
    std::set<std::tuple<std::string, std::string, std::string_view, double>> seen;
    for (const auto& offer : offers) {
        const auto add = [&](std::string_view code, std::string_view unit,
                             const std::optional<double>& value, const auto& find) {
            if (value && seen.emplace(offer.provider, offer.instance, code, *value).second)
                found.push_back({.offer = offer.id,
                                 .code = code,
                                 .unit = unit,
                                 .promised = *value,
                                 .measured = find()});
        };
        for (const auto& one : promised)
            if (const auto value = value_of(one, offer, hardware))
                add(one.code, one.unit, value,
                    [&] { return found_of(one, *value, offer, runs, hardware); });
        add("bandwidth", "Gb/s", offer.bandwidth_gbps ? offer.bandwidth_gbps : offer.network_gbps,
            [&] { return network_of(offer, runs, hardware); });
        // No run can find these: a meeting sees that nothing was held against them.
        const auto none = [] { return std::optional<double>{}; };
        add("availability", "share", offer.availability, none);
        add("durability", "share", offer.durability, none);
        add("replacement", "h", offer.replacement_hours, none);
    }
    return found;
}

std::vector<std::optional<Promise>> broken_promises(const std::vector<offers::Offer>& offers,
                                                    const store::Collection& runs,
                                                    const reference::Hardware* hardware) {
    std::vector<std::optional<Promise>> broken;
    // Tariffs of a type promise the same: each count is looked up once.
    std::map<std::tuple<std::string, std::string, std::string_view, double>, std::optional<double>>
        known;
    for (const auto& offer : offers) {
        auto& first = broken.emplace_back();
        for (const auto& one : promised) {
            const auto value = value_of(one, offer, hardware);
            if (!value || first) continue;
            const auto [at, is_new] =
                known.try_emplace({offer.provider, offer.instance, one.code, *value});
            if (is_new) at->second = found_of(one, *value, offer, runs, hardware);
            const Promise promise{.offer = offer.id,
                                  .code = one.code,
                                  .unit = one.unit,
                                  .promised = *value,
                                  .measured = at->second};
            if (promise.measured && !promise.kept()) first = promise;
        }
    }
    return broken;
}

std::string name_of(const Promise& promise) {
    return std::string{document::find_text("promise", promise.code).value_or("")};
}
std::string amount_of(double value, const Promise& promise) {
    if (promise.unit == document::unit_share)
        return fmt::format("{:.12g}%", 100 * value); // 99.999999999% is no 100%
    return promise.unit == "count" ? fmt::format("{:g}", value)
                                   : fmt::format("{:.4g} {}", value, promise.unit);
}

// --- published -----------------------------------------------------------------------------------

Result<std::vector<Published>> parse_published(std::string_view text, const std::string& source) {
    ASSAY_TRY(const auto value, json::parse(text, source));
    json::Document document{value, source};
    const auto root = document.root();
    root.only({"schema", "name", "figures"});
    std::string schema;
    root.read("schema", schema);
    if (!root.failed() && schema != "assay.published/1")
        root.expected("schema", "assay.published/1");
    std::vector<Published> figures;
    root.each("figures", [&](const json::Object& row) {
        auto& figure = figures.emplace_back();
        row.only({"provider", "instance", "title", "series", "value", "unit", "source", "date"});
        for (const auto* key : {"provider", "instance", "title", "unit", "source", "date"}) {
            std::string must;
            row.read(key, must);
            if (!row.failed() && must.empty()) row.expected(key, "a text that says it");
        }
        json::decode(row, figure);
        if (!row.failed() && !(figure.value > 0)) row.expected("value", "a number above 0");
    });
    ASSAY_TRY(document.result());
    return figures;
}

Result<std::vector<Published>> read_published(const std::vector<std::string>& files) {
    std::vector<Published> all;
    for (const auto& file : files) {
        ASSAY_TRY(const auto text, read_whole(file, json::Limits{}.bytes));
        ASSAY_TRY(auto read, parse_published(text, file));
        all.insert(all.end(), read.begin(), read.end());
    }
    return all;
}

Result<std::vector<BesidePublished>> beside(const std::vector<Published>& figures,
                                            const store::Collection& runs,
                                            const reference::Hardware* hardware) {
    std::vector<BesidePublished> all;
    for (const auto& figure : figures) {
        auto& one =
            all.emplace_back(BesidePublished{.figure = figure, .measured = {}, .series = {}});
        if (figure.series.empty()) continue;
        offers::Offer offer;
        offer.id = figure.instance;
        offer.provider = figure.provider;
        offer.instance = figure.instance;
        ASSAY_TRY(auto rate,
                  rate_of({.pattern = figure.series, .amount = 1}, offer, 1, runs, hardware));
        if (!rate.rate || rate.unit + "/s" != figure.unit) continue;
        one.measured = rate.rate;
        one.series = rate.series;
    }
    return all;
}

} // namespace assay::procure
