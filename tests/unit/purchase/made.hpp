// SPDX-License-Identifier: Apache-2.0
//
// Offers and runs made by hand, for tests of rankings.

#pragma once

#include "purchase/procurement.hpp"
#include "support/collection_maker.hpp"
#include "support/results.hpp"

#include <gtest/gtest.h>

namespace assay::purchase::made {

inline Offer offer(const std::string& instance, const std::string& price,
                   Tariff tariff = Tariff::on_demand) {
    Offer one;
    one.provider = "aws";
    one.instance = instance;
    one.tariff = tariff;
    one.id = instance + " " + std::string{to_string(tariff)};
    one.price = Amount{.text = price, .value = std::stod(price)};
    one.currency = "USD";
    one.date = "2026-11-01";
    one.source = "list";
    return one;
}

/// Rates of machines of a type; a measure each that has a name of its own: "a", "b".
class Market {
public:
    Market() {
        profiles_.measures = {measure("a"), measure("b")};
        profiles_.profiles = {
            {.name = "half", .title = "", .title_zh = "", .weights = {{"a", 0.5}, {"b", 0.5}}}};
    }
    static Measure measure(const std::string& id) {
        return {.id = id,
                .title = {},
                .title_zh = {},
                .where = {"benchmark=" + id + ".rate"},
                .metric = {},
                .take = Take::best};
    }
    static decide::Series series(const std::string& id, const std::string& place = "host") {
        auto one = test::series_of(id + ".rate", "lib", {{"size", std::int64_t{1}}}, "flop_rate");
        one.place = place;
        one.question = id;
        return one;
    }
    /// A machine of that type; a rate of 0 was not measured.
    std::uint32_t machine(const std::string& instance, double a, double b) {
        const auto run =
            maker.run({.machine = "m-" + std::to_string(++machines_), .instance = instance});
        if (a > 0) maker.observe(run, series("a"), {a});
        if (b > 0) maker.observe(run, series("b"), {b});
        return run;
    }
    store::Collection& runs() { return maker.collection(); }
    Profiles& profiles() { return profiles_; }

    Scores scores(const std::vector<Offer>& offers) {
        return must(score(offers, profiles_.profiles[0], profiles_, runs()));
    }
    Result<Procurement> try_procurement(std::vector<Offer> offers, Given given = {}) {
        Offers all;
        all.offers = std::move(offers);
        CostOptions costs{.terms = {.now = seconds_of("2026-11-20").value_or(0)},
                          .given = std::move(given),
                          .term_months = term,
                          .work = {},
                          .runs = &runs()};
        return make_procurement({.offers = std::move(all),
                                 .snapshot = "abc",
                                 .profiles = profiles_,
                                 .profile = "half",
                                 .options = {.costs = std::move(costs), .prior = {}}});
    }
    Procurement procurement(std::vector<Offer> offers, Given given = {}) {
        return must(try_procurement(std::move(offers), std::move(given)));
    }
    Ranking ranking(std::vector<Offer> offers, Given given = {}) {
        return procurement(std::move(offers), std::move(given)).ranking;
    }

    test::CollectionMaker maker;
    double term = 12;

private:
    Profiles profiles_;
    int machines_ = 0;
};

} // namespace assay::purchase::made
