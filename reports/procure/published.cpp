// SPDX-License-Identifier: Apache-2.0
#include "procure/published.hpp"

#include "base/file.hpp"
#include "offers/rates.hpp"

namespace assay::report {

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
                                            const Collection& runs,
                                            const datasheet::Hardware* hardware) {
    std::vector<BesidePublished> all;
    for (const auto& figure : figures) {
        auto& one =
            all.emplace_back(BesidePublished{.figure = figure, .measured = {}, .series = {}});
        if (figure.series.empty()) continue;
        Offer offer;
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

} // namespace assay::report
