// SPDX-License-Identifier: Apache-2.0
#include "base/console.hpp"
#include "base/csv.hpp"
#include "base/file.hpp"
#include "base/result.hpp"
#include "base/text.hpp"
#include "base/utc.hpp"
#include "purchase/offer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace assay::purchase {
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
            read_.faults.push_back(source_ + ": is empty; a template: assay offers init");
        }
        if (!rows_.problem().empty())
            read_.faults.push_back(fmt::format("{}: {}", source_, rows_.problem()));
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
        if (has("BillingCurrency") && has("ChargeCategory"))
            return fault(
                "is a FOCUS bill, which lists what was paid, not what is offered; write an "
                "offer for each type and price (template: assay offers init)");
        const bool is_catalogue = has("InstanceType") && has("Price");
        if (!is_catalogue) {
            for (const auto& title : titles_)
                if (std::ranges::count(offer_columns(), title) == 0)
                    return fault(fmt::format("unknown column \"{}\"{}", plain(title, 60),
                                             suggestion(title, offer_columns())));
        }
        while (rows_.next()) {
            fine_ = true;
            if (rows_.cells().size() != titles_.size()) {
                fault(fmt::format("{} cells in a table of {} columns", rows_.cells().size(),
                                  titles_.size()));
                continue;
            }
            if (is_catalogue)
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
        const auto text = cell(title);
        if (text.find_first_not_of(' ') == std::string_view::npos) return;
        const auto number = parse_number(text, decimal_comma_);
        if (!number) return wrong(title, number.error().message);
        out = number->value;
    }
    void set(std::string_view title, Tariff& out) {
        const auto text = cell(title);
        if (!text.empty() && !from_text(text, out))
            wrong(title, fmt::format("unknown tariff \"{}\" (expected {})", plain(text, 60),
                                     expected_text(out)));
    }
    void set(std::string_view title, std::optional<bool>& out) {
        const auto text = cell(title);
        if (text.empty()) return;
        if (text != "true" && text != "false")
            return wrong(title, fmt::format("invalid value \"{}\" (expected true or false)",
                                            plain(text, 60)));
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
        if (offer.instance.empty()) { // an accelerator without a machine, such as a TPU
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

    CsvRows rows_;
    const std::string& source_;
    const OfferDefaults& defaults_;
    std::vector<std::string> titles_;
    std::map<std::string, std::size_t, std::less<>> columns_;
    OffersRead read_;
    bool decimal_comma_ = false;
    bool fine_ = true; ///< the row so far
};

} // namespace

std::string table_template() {
    const std::map<std::string, std::string, std::less<>> example{
        {"provider", "example"}, {"region", "eu-1"},      {"instance", "gpu-8x"},
        {"count", "4"},          {"gpus", "8"},           {"tariff", "on_demand"},
        {"currency", "EUR"},     {"source", "quote 123"}, {"billing_step_s", "3600"}};
    std::vector<std::string_view> cells;
    for (const auto& column : offer_columns()) {
        const auto known = example.find(column);
        cells.push_back(known == example.end() ? std::string_view{} : known->second);
    }
    return fmt::format("{}\r\n{}\r\n", fmt::join(offer_columns(), ","), fmt::join(cells, ","));
}

namespace {

/// Catalogues of a cloud have a million lines.
constexpr std::size_t most_bytes = std::size_t{512} << 20U;

Result<Offers> parse_json(std::string_view text, const std::string& source) {
    static const auto schema = json::read_file(layout().share / "schema" / "offer.json");
    if (!schema) return tl::unexpected{schema.error()};
    ASSAY_TRY(const auto value, json::parse(text, source));
    ASSAY_TRY(json::check_schema(value, *schema, source));
    ASSAY_TRY(auto offers, json::read<Offers>(value, source));
    std::size_t number = 0;
    for (auto& offer : offers.offers) offer.where = fmt::format("{}: offers[{}]", source, number++);
    return offers;
}

std::string fault_of(const ExchangeRate& rate) {
    for (const auto* currency : {&rate.currency, &rate.in})
        if (!is_currency(*currency))
            return fmt::format("unknown currency \"{}\" (expected an ISO 4217 code)",
                               plain(*currency, 60));
    constexpr double most = 1e9; // no two currencies are further apart
    if (!(rate.rate.value >= 1 / most) || rate.rate.value > most)
        return fmt::format("rate {} is out of range", plain(rate.rate.text, 60));
    return seconds_of(rate.date) ? "" : "date is missing or invalid (expected YYYY-MM-DD)";
}

/// Checks beyond schema and columns; makes missing ids.
void finish(OffersRead& read, const std::string& source) {
    std::size_t number = 0;
    for (const auto& rate : read.offers.rates) {
        if (const auto fault = fault_of(rate); !fault.empty())
            read.faults.push_back(fmt::format("{}: rates[{}]: {}", source, number, fault));
        ++number;
    }
    std::set<std::string> ids;
    std::unordered_map<std::string, std::size_t> copies; // catalogues have thousands alike
    std::erase_if(read.offers.offers, [&](Offer& offer) {
        auto [key, fault] = fault_of(offer);
        if (fault.empty()) {
            const bool named = !offer.id.empty();
            if (!named) {
                offer.id = fmt::format("{} {}", offer.provider, offer.instance);
                for (const auto& part : {offer.region, offer.zone}) {
                    if (!part.empty()) offer.id += ' ' + part;
                }
                offer.id += fmt::format(" {}", to_string(offer.tariff));
            }
            const auto id = offer.id;
            while (fault.empty() && !ids.insert(offer.id).second) {
                if (named) {
                    key = "id";
                    fault = fmt::format("\"{}\" occurs twice", plain(id, 60));
                } else {
                    offer.id =
                        fmt::format("{} ({})", id, copies.try_emplace(id, 1).first->second += 1);
                }
            }
        }
        if (fault.empty()) return false;
        read.faults.push_back(fmt::format("{}: {}: {}", offer.where, key, fault));
        return true;
    });
}

} // namespace

OffersRead parse_offers(std::string_view text, const std::string& source,
                        const OfferDefaults& defaults) {
    const auto first = text.find_first_not_of(" \t\r\n");
    const bool is_json = first != std::string_view::npos && text[first] == '{';
    OffersRead read;
    if (!is_json)
        read = Table{text, source, defaults}.take();
    else if (auto offers = parse_json(text, source))
        read.offers = std::move(*offers);
    else
        read.faults = {offers.error().message};
    finish(read, source);
    return read;
}

Result<OffersRead> read_offers(const std::string& path, const OfferDefaults& defaults) {
    ASSAY_TRY(const auto text, read_text(path, most_bytes));
    return parse_offers(text, plain(path), defaults);
}

Result<Offers> offers_of(const std::vector<std::string>& paths, const OfferDefaults& defaults) {
    Offers all;
    std::set<std::string> ids;
    for (const auto& path : paths) {
        ASSAY_TRY(auto read, read_offers(path, defaults));
        if (!read.faults.empty())
            return fail(read.faults.size() == 1
                            ? read.faults.front()
                            : fmt::format("{} ({} more: assay offers lint)", read.faults.front(),
                                          read.faults.size() - 1));
        if (all.name.empty()) all.name = read.offers.name;
        std::ranges::move(read.offers.rates, std::back_inserter(all.rates));
        std::ranges::move(read.offers.needs, std::back_inserter(all.needs));
        std::ranges::move(read.offers.regions, std::back_inserter(all.regions));
        for (auto& offer : read.offers.offers) {
            if (!ids.insert(offer.id).second)
                return fail(fmt::format("{}: offer \"{}\" also occurs in an earlier file",
                                        offer.where, plain(offer.id, 200)));
            all.offers.push_back(std::move(offer));
        }
    }
    return all;
}

} // namespace assay::purchase
