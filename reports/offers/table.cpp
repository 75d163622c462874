// SPDX-License-Identifier: Apache-2.0

#include "offers/table.hpp"

#include "base/console.hpp"
#include "base/text.hpp"
#include "offers/csv.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace assay::offers {
namespace {

/// A file that is wrong everywhere is not said to be so a million times.
constexpr std::size_t most_faults = 100;

class Table {
public:
    Table(std::string_view text, const std::string& source, const OfferDefaults& defaults)
        : rows_{text}, source_{source}, defaults_{defaults} {
        // Spreadsheets of countries that write decimals with a comma part cells by semicolons.
        CsvRows all{text};
        while (all.separator() == ';' && !decimal_comma_ && all.next())
            decimal_comma_ = std::ranges::any_of(all.cells(), [](const auto& cell) {
                return cell.find(',') != cell.npos && parse_amount(cell, true);
            });
    }

    OffersRead take() {
        if (rows_.next()) {
            titles_ = rows_.cells();
            for (std::size_t i = 0; i < titles_.size(); ++i)
                if (!titles_[i].empty() && !columns_.try_emplace(titles_[i], i).second)
                    fault(fmt::format("column {}: occurs twice", plain(titles_[i], 60)));
            if (read_.faults.empty()) rows();
        } else if (rows_.problem().empty()) {
            read_.faults.push_back(source_ +
                                   ": holds nothing; assay offers init writes a template");
        }
        if (!rows_.problem().empty())
            read_.faults.push_back(fmt::format("{}: {}", source_, rows_.problem()));
        for (auto& [key, bill] : bills_) read_.offers.offers.push_back(offer_of(std::move(bill)));
        return std::move(read_);
    }

private:
    void fault(const std::string& text) {
        if (read_.faults.size() < most_faults)
            read_.faults.push_back(fmt::format("{}:{}: {}", source_, rows_.line(), text));
    }
    bool has(std::string_view title) const { return columns_.contains(title); }
    std::string_view cell(std::string_view title) const {
        const auto column = columns_.find(title);
        return column == columns_.end() || column->second >= rows_.cells().size()
                   ? std::string_view{}
                   : std::string_view{rows_.cells()[column->second]};
    }

    void rows() {
        const bool is_bill =
            has("BillingCurrency") && (has("ContractedUnitPrice") || has("EffectiveCost"));
        const bool is_catalogue = has("InstanceType") && has("Price");
        if (!is_bill && !is_catalogue) {
            for (const auto& title : titles_)
                if (std::ranges::count(offer_columns(), title) == 0)
                    return fault(fmt::format("column \"{}\" is not known{}", plain(title, 60),
                                             suggestion(title, offer_columns())));
        }
        while (rows_.next()) {
            fine_ = true;
            if (rows_.cells().size() != titles_.size()) {
                fault(
                    fmt::format("{} cells under {} titles", rows_.cells().size(), titles_.size()));
                continue;
            }
            if (is_bill)
                bill();
            else if (is_catalogue)
                catalogue();
            else
                own();
        }
    }

    // --- cells ---------------------------------------------------------------------------------------

    void set(std::string_view title, std::string& out) {
        const auto text = cell(title);
        if (is_formula(text))
            return wrong(title, '"' + plain(text, 60) + "\" is a formula; write its value");
        out = text;
    }
    void set(std::string_view title, std::optional<Amount>& out) {
        const auto text = cell(title);
        if (text.find_first_not_of(' ') == std::string_view::npos) return;
        auto amount = parse_amount(text, decimal_comma_);
        if (!amount) return wrong(title, amount.error().message);
        out = std::move(*amount);
    }
    void set(std::string_view title, std::optional<double>& out) {
        std::optional<Amount> amount;
        set(title, amount);
        if (amount) out = amount->value;
    }
    void set(std::string_view title, Tariff& out) {
        const auto text = cell(title);
        if (!text.empty() && !from_text(text, out))
            wrong(title,
                  fmt::format("\"{}\" is no tariff: {}", plain(text, 60), expected_text(out)));
    }
    void set(std::string_view title, std::optional<bool>& out) {
        const auto text = cell(title);
        if (text.empty()) return;
        if (text != "true" && text != "false")
            return wrong(title, fmt::format("\"{}\" is neither true nor false", plain(text, 60)));
        out = text == "true";
    }
    void wrong(std::string_view title, const std::string& what) {
        if (fine_) fault(fmt::format("column {}: {}", plain(title, 60), what));
        fine_ = false;
    }

    void add(Offer offer) {
        if (!fine_) return;
        offer.where = fmt::format("{}:{}", source_, rows_.line());
        if (offer.provider.empty()) offer.provider = defaults_.provider;
        if (offer.date.empty()) offer.date = defaults_.date;
        read_.offers.offers.push_back(std::move(offer));
    }

    // --- kinds of tables -----------------------------------------------------------------------------

    void own() {
        Offer offer;
        each_field([&](const char* key, auto& member) { set(key, member); }, offer);
        add(std::move(offer));
    }

    /// SkyPilot: a type in a region, on demand and spot, in USD.
    void catalogue() {
        Offer offer;
        offer.currency = "USD";
        offer.source = "SkyPilot";
        set("InstanceType", offer.instance);
        set("Region", offer.region);
        set("AvailabilityZone", offer.zone);
        set("AcceleratorName", offer.gpu);
        set("AcceleratorCount", offer.gpus);
        if (!offer.gpus && has("AcceleratorCount")) offer.gpus = 0;
        set("vCPUs", offer.vcpus);
        set("MemoryGiB", offer.memory_gib);
        std::optional<Amount> spot;
        set("SpotPrice", spot);
        set("Price", offer.price);
        if (offer.instance.empty()) { // an accelerator that is no machine, such as a TPU
            ++read_.skipped;
            return;
        }
        offer.tariff = Tariff::on_demand;
        if (offer.price || !spot) add(offer);
        if (!spot) return;
        offer.tariff = Tariff::spot;
        offer.price = spot;
        add(std::move(offer));
    }

    struct Bill {
        Offer offer;
        double cost = 0;
        double hours = 0;
        std::size_t lines = 0;
    };

    /// FOCUS: a charge for a time. The newest contracted price of what is alike; where bills have none, what was
    /// paid over the hours it was paid for.
    void bill() {
        auto unit = std::string{cell("PricingUnit")};
        if (unit.empty()) unit = cell("ConsumedUnit");
        std::string instance;
        for (const auto* title : {"x_InstanceType", "InstanceType"})
            if (instance.empty()) set(title, instance);
        if (instance.empty()) instance = instance_in(cell("SkuPriceDetails"));
        const bool by_hour = unit == "Hours" || unit == "Hour" || unit == "Hrs" || unit == "hours";
        const auto kind = cell("ChargeCategory");
        std::optional<double> cost;
        set("EffectiveCost", cost);
        if (kind == "Usage" && cell("CommitmentDiscountStatus") == "Unused") {
            if (fine_ && cost) read_.offers.unused[std::string{cell("BillingCurrency")}] += *cost;
            return;
        }
        if (instance.empty() || !by_hour || (!kind.empty() && kind != "Usage")) {
            ++read_.skipped;
            return;
        }
        Offer offer;
        offer.instance = std::move(instance);
        set("ProviderName", offer.provider);
        set("RegionId", offer.region);
        set("AvailabilityZone", offer.zone);
        set("BillingCurrency", offer.currency);
        set("ContractedUnitPrice", offer.price);
        const auto category = cell("PricingCategory");
        offer.tariff = category == "Committed" ? Tariff::committed
                       : category == "Dynamic" ? Tariff::spot
                                               : Tariff::on_demand;
        const auto until = cell(has("ChargePeriodEnd") ? "ChargePeriodEnd" : "BillingPeriodEnd");
        constexpr std::size_t date_length = 10;
        offer.date = until.substr(0, date_length);
        std::optional<double> hours;
        set(cell("PricingQuantity").empty() ? "ConsumedQuantity" : "PricingQuantity", hours);
        if (!fine_) return;
        offer.source = source_;
        offer.where = fmt::format("{}:{}", source_, rows_.line());
        auto& all =
            bills_[fmt::format("{}\n{}\n{}\n{}\n{}\n{}", offer.provider, offer.region, offer.zone,
                               offer.instance, to_string(offer.tariff), offer.currency)];
        if (cost && hours) {
            all.cost += *cost;
            all.hours += *hours;
        }
        // What a commitment costs stands in EffectiveCost alone.
        if (offer.tariff == Tariff::committed) offer.price.reset();
        if (++all.lines == 1 || offer.date > all.offer.date) all.offer = std::move(offer);
    }
    static Offer offer_of(Bill bill) {
        if (!bill.offer.price && bill.hours > 0 && bill.cost > 0) {
            const double price = bill.cost / bill.hours;
            bill.offer.price = Amount{.text = fmt::format("{}", price), .value = price};
        }
        return std::move(bill.offer);
    }
    static std::string instance_in(std::string_view details) {
        if (details.find("InstanceType") == std::string_view::npos) return {};
        const auto value = json::parse(details, "SkuPriceDetails");
        if (!value || !value->is_object()) return {};
        const auto found = value->find("InstanceType");
        return found != value->end() && found->is_string() ? found->get<std::string>()
                                                           : std::string{};
    }

    CsvRows rows_;
    const std::string& source_;
    const OfferDefaults& defaults_;
    std::vector<std::string> titles_;
    std::map<std::string, std::size_t, std::less<>> columns_;
    std::map<std::string, Bill> bills_;
    OffersRead read_;
    bool decimal_comma_ = false;
    bool fine_ = true; ///< the row so far
};

} // namespace

OffersRead parse_table(std::string_view text, const std::string& source,
                       const OfferDefaults& defaults) {
    return Table{text, source, defaults}.take();
}

std::string table_template() {
    std::string text = fmt::format("{}", fmt::join(offer_columns(), ","));
    text += "\r\n";
    const std::map<std::string, std::string, std::less<>> example{
        {"provider", "example"}, {"region", "eu-1"},      {"instance", "gpu-8x"},
        {"count", "4"},          {"gpus", "8"},           {"tariff", "on_demand"},
        {"currency", "EUR"},     {"source", "quote 123"}, {"billing_step_s", "3600"}};
    bool first = true;
    for (const auto& column : offer_columns()) {
        if (!first) text += ',';
        first = false;
        if (const auto known = example.find(column); known != example.end()) text += known->second;
    }
    return text + "\r\n";
}

} // namespace assay::offers
