// SPDX-License-Identifier: Apache-2.0

#include "base/console.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/capacity.hpp"
#include "document/texts/cost.hpp"
#include "json/codec.hpp"
#include "offers/cost_document.hpp"
#include "procure/capacity.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace assay::report {

using namespace document;

Document make_document(const Capacity& capacity, bool explain) {
    const auto* need = capacity.lines.find("device_bytes");
    const auto fitting = static_cast<std::size_t>(std::ranges::count_if(
        capacity.holders, [](const auto& holder) { return holder.share <= 1; }));
    const auto devices = fmt::format("{:g}", capacity.lines.of("devices")->value);
    Document document{.kind = "capacity",
                      .kicker = say<text::capacity::kicker>(),
                      .title = capacity.training ? say<text::capacity::training>(devices)
                                                 : say<text::capacity::serving>(devices)};
    if (need->quantity) {
        document.verdict = say<text::capacity::verdict>(record::human_bytes(need->quantity->value),
                                                        fitting, capacity.holders.size());
    } else {
        document.verdict = say<text::capacity::cannot>(reason_in_words(*need));
        document.tone = Tone::weak;
    }
    Table parts{.columns = {{.title = say<text::capacity::part>()},
                            {.title = say<text::capacity::a_device>(), .numeric = true}},
                .sheet = say<text::capacity::kicker>()};
    for (const auto* key : {"weights", "gradients", "optimiser", "activations", "kv_token",
                            "kv_cache", "device_bytes"})
        if (const auto* line = capacity.lines.find(key))
            parts.rows.push_back(
                {.cells = {{.text = name_of_line(key)}, linked(cell_of(line), key)}});
    document.sections.push_back(
        {.title = say<text::capacity::kicker>(), .blocks = {std::move(parts)}, .heading = false});
    if (!capacity.holders.empty()) {
        Table table{.columns = {{.title = say<text::capacity::device>()},
                                {.title = say<text::capacity::memory>(), .numeric = true},
                                {.title = say<text::capacity::used>(), .numeric = true},
                                {.title = say<text::capacity::least>(), .numeric = true}},
                    .sheet = say<text::capacity::devices>()};
        for (const auto& holder : capacity.holders)
            table.rows.push_back(
                {.cells = {{.text = plain(holder.device)},
                           {.text = record::human_bytes(holder.memory_bytes),
                            .number = holder.memory_bytes,
                            .unit = "B"},
                           {.text = holder.share <= 1 ? record::human_percent(holder.share)
                                                      : say<text::capacity::too_large>(
                                                            record::human_percent(holder.share)),
                            .tone = holder.share <= 1 ? Tone::good : Tone::bad,
                            .number = holder.share,
                            .unit = unit_share},
                           {.text = fmt::format("{:.0f}", holder.least_devices),
                            .number = holder.least_devices,
                            .unit = unit_count}}});
        document.sections.push_back(
            {.title = say<text::capacity::devices>(), .blocks = {std::move(table)}});
    }
    if (!capacity.instances.empty()) {
        Table table{.columns = {{.title = say<text::capacity::instance>()},
                                {.title = say<text::capacity::nodes>(), .numeric = true},
                                {.title = say<text::capacity::used>(), .numeric = true},
                                {.title = "GPU", .rank = 1}},
                    .sheet = say<text::capacity::instances>()};
        for (const auto& holder : capacity.instances)
            table.rows.push_back({.cells = {{.text = plain(holder.instance)},
                                            {.text = fmt::format("{:.0f}", holder.nodes),
                                             .number = holder.nodes,
                                             .unit = unit_count},
                                            {.text = record::human_percent(holder.share),
                                             .number = holder.share,
                                             .unit = unit_share},
                                            {.text = fmt::format("{:.3g} × {}", holder.gpus,
                                                                 plain(holder.device))}}});
        document.sections.push_back({.title = say<text::capacity::instances>(),
                                     .question = say<text::capacity::instances_question>(),
                                     .blocks = {std::move(table)}});
    }
    document.sections.push_back(
        {.title = say<text::cost::how>(),
         .blocks = {explained(capacity.lines, {}, {}, explain ? "" : say<text::cost::formula>())}});
    document.foot.push_back({.text = say<text::capacity::method>(), .tone = Tone::quiet});
    return document;
}

ASSAY_FIELDS(Holder, device, memory_bytes, share, (record.share <= 1, "fits"), least_devices)
ASSAY_FIELDS(InstanceHolder, instance, device, gpus, nodes, share)
ASSAY_FIELDS(Capacity, ("assay.capacity/1", "schema"), training, (to_json(record.lines), "lines"),
             (record.holders, "devices"), instances)

std::string to_json(const Capacity& capacity) { return json::to_text(json::encode(capacity)); }

} // namespace assay::report
