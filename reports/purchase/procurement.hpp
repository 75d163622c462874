// SPDX-License-Identifier: Apache-2.0
//
// All that a report for a purchase says: the ranking for the work that is asked for, and what was promised beside what was
// measured.

#pragma once

#include "document/document.hpp"
#include "purchase/needs.hpp"
#include "purchase/offer_document.hpp"
#include "purchase/ranking.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::purchase {

struct Procurement {
    Offers offers;
    std::vector<Cost> costs;
    Profiles profiles;
    Ranking ranking;
    std::vector<Promise> promises;
    /// Doubts about prices of ranked offers: serious findings of offer_document.hpp, the best offer's first.
    std::vector<document::LintRow> doubts;
    std::string snapshot;                 ///< SHA-256 of the files of offers
    std::vector<store::Problem> problems; ///< files left out
    std::vector<std::string> not_offered; ///< types that were measured all the same
    std::size_t machines = 0;
    std::size_t runs = 0;
    RankingOptions options;
};

struct ProcurementInputs {
    Offers offers;
    std::string snapshot;
    Profiles profiles;
    std::string profile;    ///< name
    RankingOptions options; ///< with the runs
};
/// Fails where the profile is not there, and where prices are in several currencies and none is asked for.
Result<Procurement> make_procurement(ProcurementInputs inputs);

// --- view ----------------------------------------------------------------------------------------
// Shared by the parts of a procurement report.

/// "1.12x"
std::string times(double ratio);
/// "93%"; never 0% or 100%, because the draws are finite.
std::string chance(double probability);
document::Cell ratio_cell(double ratio);
/// The word "provisional" if there is no probability.
document::Cell chance_cell(std::optional<double> probability);
document::Cell percent_cell(double share);
document::Column numeric(std::string title, std::uint8_t rank = 0);
/// That of a column of an offer: a narrow terminal leaves out the last ones.
std::uint8_t rank_of(std::size_t column);
document::Fact fact_of(const char* key, std::string name, std::string text,
                       document::Tone tone = document::Tone::plain);

/// A purchase, and what is often asked of its ranking.
struct View {
    explicit View(const Procurement& purchase) : found{purchase}, ranking{purchase.ranking} {}

    const RankedOffer& best() const { return ranking.offers.front(); }
    /// Value relative to the best offer.
    double value_of(const RankedOffer& offer) const;
    /// Half width of its interval, as a logarithm.
    double half(const RankedOffer& offer) const;
    /// It is of another type than the best, and enough machines of both were measured.
    bool has_interval(const RankedOffer& offer) const;
    std::size_t machines(const RankedOffer& offer) const;
    std::string money(double value) const;
    document::Cell money_cell(double value) const;
    std::string measure_title(const std::string& id) const;
    std::vector<std::string> missing_measures() const;
    double utilisation() const;

    const Procurement& found;
    const Ranking& ranking;
};

/// Tables that a workbook recomputes when prices, weights or terms change: the first offers, and the weights.
document::Chart what_if(const View& view);
std::vector<document::Table> live_ranking(const View& view);

/// Offers that share a reason, in one line.
document::Findings unranked(const View& view);
std::vector<document::Block> risks(const View& view);
std::vector<document::Block> contract(const Procurement& found);
/// Data sheet figures of offers without measurements.
document::Table data_sheets(const View& view);
document::Table unit_costs(const View& view);
document::Facts assumptions(const View& view);

// --- document ------------------------------------------------------------------------------------
// A procurement report as a document and as data.

document::Document make_document(const Procurement& found);
std::string to_json(const Procurement& found);

} // namespace assay::purchase
