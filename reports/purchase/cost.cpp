// SPDX-License-Identifier: Apache-2.0
#include "purchase/cost.hpp"

#include "base/console.hpp"
#include "base/text.hpp"
#include "purchase/offer_document.hpp"
#include "reference/catalog.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace assay::purchase {
namespace {

/// Nothing divides by 0.
constexpr double little = 1e-6;
constexpr double many = 1e12;
constexpr std::array table{Setting{"utilisation", "share", 1, little, 1},
                           Setting{"node_watts", "W", {}, 0, 1e6},
                           Setting{"pue", "ratio", {}, 1, 10},
                           Setting{"power_price", "money/kWh", {}},
                           Setting{"carbon", "g/kWh", {}, 0, 1e4},
                           Setting{"storage_gb", "GB", {}},
                           Setting{"egress_gb_month", "GB", {}},
                           Setting{"control_plane", "money/month", {}},
                           Setting{"support", "money/month", {}},
                           Setting{"setup", "money", {}},
                           Setting{"debugging", "money/month", {}},
                           Setting{"mtbf_hours", "h", {}, little, many},
                           Setting{"checkpoint_hours", "h", {}, little, 1e6},
                           Setting{"restart_hours", "h", {}, 0, 1e6},
                           Setting{"interval_hours", "h", {}, little, 1e6},
                           Setting{"depreciation_months", "months", {}, 1, 1200},
                           Setting{"residual", "share", 0, 0, 1},
                           Setting{"hosting_month", "money/month", {}},
                           Setting{"staff_month", "money/month", {}}};

/// Is it billed per hour used?
bool is_by_use(Tariff tariff) { return tariff == Tariff::on_demand || tariff == Tariff::spot; }

class Costing {
public:
    Costing(const Offer& offer, const std::vector<ExchangeRate>& rates, const CostOptions& options)
        : options_{options}, rates_{rates} {
        cost_.offer = offer;
        cost_.price = price_of(offer, rates, options.terms);
        money_ = cost_.price.currency;
    }

    Result<Cost> take() {
        inputs();
        ASSAY_TRY(measured());
        energy();
        node();
        goodput();
        job();
        month();
        return std::move(cost_);
    }

private:
    Calculation& lines() { return cost_.lines; }
    bool has(std::string_view key) const { return cost_.lines.of(key).has_value(); }
    std::string by(const char* per) const { return money_ + per; }

    void inputs() {
        const auto& offer = cost_.offer;
        lines().input("hours_a_month", "h", hours_a_month, Basis::given, "8760 / 12");
        lines().input("term_months", "months", options_.term_months, Basis::given, "--term");
        const auto nodes = options_.nodes ? options_.nodes : offer.count;
        lines().input("nodes", "count", nodes.value_or(1), nodes ? Basis::given : Basis::assumed,
                      options_.nodes ? "--nodes"
                      : nodes        ? offer.where
                                     : "");
        if (const auto months = commitment_months(offer.tariff))
            lines().input("commitment_months", "months", *months, Basis::given,
                          std::string{to_string(offer.tariff)});
        add_electricity();
        const auto state = cost_.price.state;
        const std::string source = fmt::format("{}; {}", offer.source, offer.date);
        const auto quoted = [&](const char* key, const std::string& unit,
                                const std::optional<double>& value, std::string why = "not_given") {
            lines().input(key, unit, value, Basis::given, source, std::move(why));
        };
        const auto amount = [](const std::optional<Amount>& given) {
            return given ? std::optional{given->value} : std::nullopt;
        };
        const auto& money = offer.currency;
        quoted("price", money, state == PriceState::known ? amount(offer.price) : std::nullopt,
               std::string{to_string(state)});
        lines().input("exchange", "ratio", cost_.price.exchanged.factor, Basis::given,
                      cost_.price.exchanged.source);
        quoted("upfront", money, amount(offer.upfront).value_or(0));
        quoted("storage_per_gb_month", money, amount(offer.storage_per_gb_month));
        quoted("egress_per_gb", money, amount(offer.egress_per_gb));
        quoted("network_per_month", money, amount(offer.network_per_month));
        quoted("control_plane_per_month", money, amount(offer.control_plane_per_month));
        quoted("support_per_month", money, amount(offer.support_per_month));
        quoted("setup_quoted", money, amount(offer.setup));
        quoted("support_share", "share", offer.support_share);
        quoted("interruptions", "1/h", offer.interruptions_per_hour);
        if (const auto* known = type(); known != nullptr && !offer.gpus && known->gpus)
            lines().input("gpus", "count", *known->gpus, Basis::datasheet, known->sheet.id);
        else
            quoted("gpus", "count", offer.gpus);
    }

    /// Electricity of the offer's region, unless --set gives it.
    void add_electricity() {
        Given known;
        std::string source;
        if (options_.regions != nullptr)
            for (const auto& region : *options_.regions) {
                if (region.region != cost_.offer.region) continue;
                source = region.source;
                if (region.carbon) known["carbon"] = *region.carbon;
                const auto exchanged = exchange(rates_, region.currency, money_, options_.terms);
                if (region.power_price && exchanged.state == PriceState::known)
                    known["power_price"] = *region.power_price * exchanged.factor;
            }
        add_inputs(lines(), table, options_.given, money_, known, source, Basis::given);
    }

    Result<void> measured() {
        if (options_.runs == nullptr) return {};
        std::size_t number = 0;
        for (const auto& work : options_.work) {
            ASSAY_TRY(auto rate, rate_of(work, cost_.offer, lines().of("nodes")->value,
                                         *options_.runs, options_.hardware));
            const auto i = std::to_string(++number);
            const auto unit = rate.unit.empty() ? std::string{"1"} : rate.unit;
            lines().input("work_" + i, unit, work.amount, Basis::given, "--work");
            lines().input(
                "rate_" + i, unit + "/s", rate.rate, Basis::measured,
                fmt::format("{} ({} machines, {} runs)", rate.series, rate.machines, rate.runs),
                rate.why);
            cost_.rates.push_back(std::move(rate));
        }
        return {};
    }

    /// Power of one node: as given, as measured during the work, or by the data sheet.
    void energy() {
        const auto* device = datasheet();
        const auto measured = std::ranges::find_if(
            cost_.rates, [](const auto& rate) { return rate.watts.has_value(); });
        if (has("node_watts")) {
            lines().result("node_power", "W", "node_watts");
        } else if (measured != cost_.rates.end()) {
            lines().input("watts", "W", *measured->watts, Basis::measured, measured->series);
            lines().result("node_power", "W",
                           measured->on_device && has("gpus") ? "watts * gpus" : "watts");
        } else if (device != nullptr && device->power) {
            lines().input("tdp", "W", *device->power, Basis::datasheet,
                          type() == nullptr
                              ? device->name
                              : fmt::format("{}, {}", type()->sheet.id, device->name));
            lines().result("node_power", "W", "tdp * gpus");
        } else {
            lines().unknown("node_power", "W", "no_power");
        }
        lines().result("hours_used", "h", "hours_a_month * utilisation");
        lines().result("energy_month", "kWh", "node_power / 1000 * nodes * hours_used * pue");
        lines().result("energy_term", "kWh", "energy_month * term_months");
        lines().result("power_month", money_, "energy_month * power_price");
        lines().result("co2_term", "kg", "energy_term * carbon / 1000");
    }

    /// The catalogue's entry of the type, if the offer names no GPU.
    const reference::InstanceEntry* type() const {
        const auto& offer = cost_.offer;
        if (options_.hardware == nullptr || !offer.gpu.empty()) return nullptr;
        return reference::find_instance(*options_.hardware, offer.provider, offer.instance);
    }

    /// The GPU's data sheet: of the measured machine, else by the offer's GPU name, else by the instance type.
    const reference::HardwareEntry* datasheet() const {
        if (options_.hardware == nullptr) return nullptr;
        if (options_.runs != nullptr)
            for (const auto& machine : options_.runs->machines)
                if (is_of(cost_.offer, machine, options_.hardware) && !machine.devices.empty())
                    return reference::find_hardware(*options_.hardware, machine.devices.front());
        const auto& offer = cost_.offer;
        if (const auto* known = type())
            return reference::find_accelerator(*options_.hardware, known->gpu);
        const auto found =
            reference::entry_named(*options_.hardware, offer.gpu, reference::Kind::accelerator);
        return found ? found->accelerator : nullptr;
    }

    void node() {
        const auto tariff = cost_.offer.tariff;
        if (tariff == Tariff::purchase) {
            lines().result("capital", money_, "price * exchange * nodes");
            lines().result("running_month", by("/month"),
                           "power_month + hosting_month + staff_month");
            lines().result(
                "cluster_hour", by("/h"),
                "(capital * (1 - residual) / depreciation_months + running_month) / hours_a_month");
            lines().result("node_hour", by("/h"), "cluster_hour / nodes");
            lines().result("part_gpu", money_, "cluster_hour * hours_a_month");
            return;
        }
        lines().result("node_hour", by("/h"),
                       tariff == Tariff::monthly ? "price / hours_a_month * exchange"
                       : has("commitment_months") && cost_.offer.upfront
                           ? "(price + upfront / (commitment_months * hours_a_month)) * exchange"
                           : "price * exchange");
        lines().result("cluster_hour", by("/h"), "node_hour * nodes");
        lines().result("part_gpu", money_,
                       is_by_use(tariff) ? "cluster_hour * hours_used"
                                         : "cluster_hour * hours_a_month");
    }

    void goodput() {
        const bool is_spot = cost_.offer.tariff == Tariff::spot;
        if (!is_spot)
            lines().result("failure_hours", "h", "mtbf_hours / nodes");
        else if (has("mtbf_hours"))
            lines().result("failure_hours", "h",
                           "1 / (nodes / mtbf_hours + nodes * interruptions)");
        else
            lines().result("failure_hours", "h", "1 / (nodes * interruptions)");
        add_goodput(lines());
    }

    /// Without failure figures the time is as measured; only spot offers need them.
    void job() {
        if (cost_.rates.empty()) return;
        std::string all;
        for (std::size_t i = 1; i <= cost_.rates.size(); ++i) {
            lines().result(fmt::format("hours_{}", i), "h",
                           fmt::format("work_{0} / rate_{0} / 3600", i));
            all += fmt::format("{}hours_{}", all.empty() ? "" : " + ", i);
        }
        lines().result("work_hours", "h", all);
        const bool by_goodput = cost_.offer.tariff == Tariff::spot || has("goodput");
        lines().result("job_hours", "h", by_goodput ? "work_hours / goodput" : "work_hours");
        std::string billed = "job_hours";
        if (const auto step = cost_.offer.billing_step_s; step && *step > 0) {
            lines().input("billing_step", "s", *step, Basis::given, cost_.offer.where);
            billed = "ceil(job_hours * 3600 / billing_step) * billing_step / 3600";
        }
        if (const auto least = cost_.offer.minimum_hours; least && *least > 0) {
            lines().input("minimum_hours", "h", *least, Basis::given, cost_.offer.where);
            billed = fmt::format("max({}, minimum_hours)", billed);
        }
        lines().result("billed_hours", "h",
                       is_by_use(cost_.offer.tariff) ? billed : "job_hours / utilisation");
        lines().result("job", money_, "billed_hours * cluster_hour");
        lines().result("job_energy", "kWh", "node_power / 1000 * nodes * job_hours * pue");
    }

    /// A part of which no amount is known stays unknown; 0 has to be said.
    void month() {
        const auto& offer = cost_.offer;
        lines().result("part_storage", money_,
                       has("storage_gb") && lines().of("storage_gb")->value == 0
                           ? "storage_gb"
                           : "storage_gb * storage_per_gb_month * exchange");
        std::string network = has("egress_gb_month") && lines().of("egress_gb_month")->value == 0
                                  ? "egress_gb_month"
                                  : "egress_gb_month * egress_per_gb * exchange";
        if (offer.network_per_month) network += " + network_per_month * exchange";
        lines().result("part_network", money_, network);
        lines().result("part_control_plane", money_,
                       has("control_plane") ? "control_plane"
                                            : "control_plane_per_month * exchange");
        std::string support = has("support") ? "support" : "support_per_month * exchange";
        if (!has("support") && offer.support_share) {
            support =
                "support_share * (part_gpu + part_storage + part_network + part_control_plane)";
            if (offer.support_per_month) support += " + support_per_month * exchange";
        }
        lines().result("part_support", money_, support);
        lines().result("part_goodput", money_, "part_gpu * (1 / goodput - 1)");
        lines().result("part_setup", money_,
                       has("setup") ? "setup / term_months"
                                    : "setup_quoted * exchange / term_months");
        lines().result("part_debugging", money_, "debugging");
        std::vector<std::string> known;
        for (const auto* part : cost_parts)
            if (has(part)) known.emplace_back(part);
        // Without the machines themselves, the other parts are not the cost of the offer.
        const auto sum = fmt::format(
            "{}", fmt::join(has("part_gpu") ? known : std::vector<std::string>{"part_gpu"}, " + "));
        lines().result("month", money_, sum);
        lines().result("term", money_,
                       has("commitment_months")
                           ? "month * ceil(term_months / commitment_months) * commitment_months"
                           : "month * term_months");
    }

    const CostOptions& options_;
    const std::vector<ExchangeRate>& rates_;
    Cost cost_;
    std::string money_;
};

} // namespace

std::span<const Setting> cost_settings() { return table; }

/// J. T. Daly, A higher order estimate of the optimum checkpoint interval for restart dumps, Future Generation Computer
/// Systems 22 (2006) 303-312, equations 20 and 37.
void add_goodput(Calculation& lines) {
    const auto failure = lines.of("failure_hours");
    const auto checkpoint = lines.of("checkpoint_hours");
    if (lines.of("interval_hours"))
        lines.result("interval", "h", "interval_hours");
    else if (failure && checkpoint && checkpoint->value >= 2 * failure->value)
        lines.result("interval", "h", "failure_hours");
    else
        lines.result("interval", "h",
                     "sqrt(2 * checkpoint_hours * failure_hours) * (1 + sqrt(checkpoint_hours / (2 "
                     "* failure_hours)) / 3 "
                     "+ checkpoint_hours / (2 * failure_hours) / 9) - checkpoint_hours");
    lines.result("goodput", "share",
                 "interval / (failure_hours * exp(restart_hours / failure_hours) * "
                 "(exp((interval + checkpoint_hours) / failure_hours) - 1))");
}

Result<Cost> cost_of(const Offer& offer, const std::vector<ExchangeRate>& rates,
                     const CostOptions& options) {
    return Costing{offer, rates, options}.take();
}

Result<std::vector<Cost>> costs_of(const Offers& offers, const CostOptions& options) {
    if (offers.offers.size() > most_offers)
        return fail(
            fmt::format("too many offers: {} (at most {}); keep only the providers, regions "
                        "and tariffs to choose from",
                        offers.offers.size(), most_offers));
    std::vector<Cost> costs;
    auto own = options;
    own.regions = &offers.regions;
    for (const auto& offer : offers.offers) {
        ASSAY_TRY(costs.emplace_back(), cost_of(offer, offers.rates, own));
    }
    const auto is_money = [](const auto& given) {
        const auto* const setting = std::ranges::find(table, given.first, &Setting::key);
        return setting->unit.starts_with("money");
    };
    const bool mixed = std::ranges::any_of(costs, [&](const auto& cost) {
        return cost.price.currency != costs.front().price.currency;
    });
    if (mixed && std::ranges::any_of(options.given, is_money))
        return fail("--set gives an amount of money, but the offers are in several currencies: "
                    "add --currency");
    return costs;
}

std::vector<BreakEven> break_evens(const std::vector<Cost>& costs) {
    const auto size = [](const Cost& cost) {
        return cost.lines.of("nodes")->value * cost.offer.gpus.value_or(1);
    };
    std::vector<BreakEven> found;
    for (std::size_t i = 0; i < costs.size(); ++i)
        for (std::size_t j = 0; j < costs.size(); ++j) {
            const auto& bought = costs[i];
            const auto& rented = costs[j];
            if (bought.offer.tariff != Tariff::purchase ||
                rented.offer.tariff == Tariff::purchase ||
                bought.price.currency != rented.price.currency || size(bought) != size(rented))
                continue;
            BreakEven one{.bought = i, .rented = j, .lines = {}};
            const auto take = [&](const char* key, const Cost& cost, const char* of) {
                const auto* line = cost.lines.find(of);
                one.lines.input(key, line->unit, line->quantity, line->basis, cost.offer.id,
                                line->why);
            };
            take("capital", bought, "capital");
            take("running_month", bought, "running_month");
            take("rent_month", rented, "part_gpu");
            const auto rent = one.lines.of("rent_month");
            const auto running = one.lines.of("running_month");
            if (rent && running && rent->value <= running->value)
                one.lines.unknown("break_even_months", "months", "never");
            else
                one.lines.result("break_even_months", "months",
                                 "capital / (rent_month - running_month)");
            found.push_back(std::move(one));
        }
    return found;
}

// --- settings ------------------------------------------------------------------------------------

Result<void> add_setting(const std::string& text, std::span<const Setting> table, Given& given) {
    const auto at = text.find('=');
    const auto key = text.substr(0, at);
    const auto found = std::ranges::find(table, key, &Setting::key);
    if (at == std::string::npos || found == table.end()) {
        std::vector<std::string> names;
        for (const auto& setting : table) names.emplace_back(setting.key);
        if (found != table.end())
            return fail(fmt::format("--set {}: value is missing (expected {}=VALUE)", key, key));
        return fail(fmt::format("--set: unknown input \"{}\"{}; known: {}", plain(key, 60),
                                nearest(key, names).empty() ? "" : suggestion(key, names),
                                fmt::join(names, ", ")));
    }
    const auto amount = parse_number(text.substr(at + 1));
    if (!amount) return fail(fmt::format("--set {}: {}", key, amount.error().message));
    if (amount->value < found->least || amount->value > found->most)
        return fail(fmt::format("--set {}={} is out of range ({:g} to {:g})", key,
                                plain(amount->text, 60), found->least, found->most));
    given[key] = amount->value;
    return {};
}

void add_inputs(Calculation& lines, std::span<const Setting> table, const Given& given,
                const std::string& money, const Given& published, const std::string& source,
                Basis basis) {
    constexpr std::string_view stands = "money";
    for (const auto& setting : table) {
        const std::string key{setting.key};
        std::string unit{setting.unit};
        if (unit.starts_with(stands)) unit = money + unit.substr(stands.size());
        const auto own = given.find(setting.key);
        const auto there = published.find(setting.key);
        if (own != given.end())
            lines.input(key, unit, own->second, Basis::given, "--set");
        else if (there != published.end())
            lines.input(key, unit, there->second, basis, source);
        else
            lines.input(key, unit, setting.usual, Basis::assumed, "");
    }
}

} // namespace assay::purchase
