// SPDX-License-Identifier: Apache-2.0
#include "procure/published.hpp"

#include "base/file.hpp"
#include "cost/rates.hpp"

#include <utility>

namespace assay::report {

Result<std::vector<Published>> parse_published(std::string_view text, const std::string& source) {
    const auto value = json::parse(text, source);
    if (!value) return tl::unexpected{value.error()};
    json::Document document{*value, source};
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
    if (auto read = document.result(); !read) return tl::unexpected{std::move(read).error()};
    return figures;
}

Result<std::vector<Published>> read_published(const std::vector<std::string>& files) {
    std::vector<Published> all;
    for (const auto& file : files) {
        const auto text = read_whole(file, json::Limits{}.bytes);
        if (!text) return tl::unexpected{text.error()};
        auto read = parse_published(*text, file);
        if (!read) return tl::unexpected{read.error()};
        all.insert(all.end(), read->begin(), read->end());
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
        auto rate = rate_of({.pattern = figure.series, .amount = 1}, offer, 1, runs, hardware);
        if (!rate) return tl::unexpected{rate.error()};
        if (!rate->rate || rate->unit + "/s" != figure.unit) continue;
        one.measured = rate->rate;
        one.series = rate->series;
    }
    return all;
}

} // namespace assay::report
