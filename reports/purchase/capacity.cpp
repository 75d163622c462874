// SPDX-License-Identifier: Apache-2.0
#include "purchase/capacity.hpp"

#include "base/console.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/capacity.hpp"
#include "document/texts/cost.hpp"
#include "json/codec.hpp"
#include "json/json.hpp"
#include "purchase/cost.hpp"
#include "record/format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <tuple>
#include <utility>
#include <vector>

namespace assay::purchase {

Result<Model> model_named(std::string_view name) {
    ASSAY_TRY(const auto rules, json::read_file(layout().share / "schema" / "model.json"));
    const json::Schema schema{rules};
    const auto wanted = lower(name);
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator{layout().share / "models", error}) {
        const auto source = entry.path().string();
        ASSAY_TRY(const auto file, json::read_file(entry.path()));
        ASSAY_TRY(schema.check(file, source));
        for (const auto& one : file.at("models")) {
            std::vector<std::string> own{one.at("name").get<std::string>()};
            if (const auto more = one.find("aliases"); more != one.end())
                for (const auto& alias : *more) own.push_back(alias.get<std::string>());
            names.insert(names.end(), own.begin(), own.end());
            if (std::ranges::find(own, wanted) == own.end()) continue;
            Model model{.name = wanted,
                        .source =
                            fmt::format("{}: {}", own.front(), one.at("source").get<std::string>()),
                        .figures = {},
                        .has_experts = one.contains("experts")};
            for (const auto& [key, figure] : one.items()) // the schema knows them all
                if (figure.is_number()) model.figures[key] = figure.get<double>();
            return model;
        }
    }
    std::ranges::sort(names);
    return fail(fmt::format("unknown model \"{}\" (known: {}); for other models give the figures "
                            "with --set",
                            plain(name, 60), fmt::join(names, ", ")));
}

namespace {

constexpr double many = 1e9;
constexpr std::array table{
    Setting{"parameters", "count", {}, 1, 1e18},
    Setting{"weight_bits", "bit", 16, 1, 64}, // fp8 8; fp4 4.5, with a scale of 8 bits for each 16
    Setting{"gradient_bits", "bit", 16, 1, 64},
    // Adam in mixed precision: master copy, momentum and variance, 32 bits each.
    Setting{"optimiser_bits", "bit", 96, 0, 256}, Setting{"layers", "count", {}, 1, many},
    Setting{"hidden", "count", {}, 1, many}, Setting{"heads", "count", {}, 1, many},
    Setting{"kv_heads", "count", {}, 1, many}, Setting{"head_size", "count", {}, 1, many},
    Setting{"kv_rank", "count", {}, 1, many}, Setting{"rope_size", "count", {}, 0, many},
    Setting{"kv_bits", "bit", 16, 1, 64}, Setting{"sequence", "count", {}, 1, many},
    Setting{"batch", "count", 1, 1, many}, Setting{"tensor", "count", 1, 1, 1e6},
    Setting{"pipeline", "count", 1, 1, 1e6}, Setting{"data", "count", 1, 1, 1e6},
    Setting{"zero", "count", 0, 0, 3},
    Setting{"recompute", "count", 0, 0, 2}, // 0 nothing, 1 attention, 2 everything
    // The rest is taken by the context, workspaces and fragmentation.
    Setting{"usable", "share", 0.9, 0.01, 1}};

/// S. Rajbhandari et al., ZeRO: memory optimizations toward training trillion parameter models (SC20), figure 1: stage 1
/// divides the optimiser over the data-parallel devices, 2 the gradients too, 3 the parameters too.
void add_states(Calculation& lines, bool training) {
    const auto zero = lines.of("zero")->value;
    const auto divided = [&](double from) { return zero >= from ? " / data" : ""; };
    lines.result("parameters_device", "count", "parameters / (tensor * pipeline)");
    lines.result("weights", "B", fmt::format("parameters_device * weight_bits / 8{}", divided(3)));
    if (!training) return;
    lines.result("gradients", "B",
                 fmt::format("parameters_device * gradient_bits / 8{}", divided(2)));
    lines.result("optimiser", "B",
                 fmt::format("parameters_device * optimiser_bits / 8{}", divided(1)));
}

/// V. Korthikanti et al., Reducing activation recomputation in large transformer models (MLSys 2023), equations 1 to 6:
/// 16-bit activations, tensor and sequence parallel; the first pipeline stage holds those of all layers.
void add_activations(Calculation& lines) {
    const auto recompute = lines.of("recompute")->value;
    lines.result(
        "activations", "B",
        recompute >= 2 ? "2 * sequence * batch * hidden * layers / tensor"
        : recompute >= 1
            ? "34 * sequence * batch * hidden * layers / tensor"
            : "sequence * batch * hidden * layers / tensor * (34 + 5 * heads * sequence / hidden)");
}

/// Grouped-query attention keeps a key and a value a group; multi-head latent attention (DeepSeek-V2, arXiv 2405.04434) one
/// compressed vector and the shared part of the position, which tensor-parallel devices all hold.
void add_cache(Calculation& lines) {
    const bool latent = lines.of("kv_rank").has_value();
    if (latent) {
        lines.result("kv_token", "B", "(kv_rank + rope_size) * layers * kv_bits / 8");
        lines.result("kv_cache", "B", "kv_token * sequence * batch / pipeline");
        return;
    }
    // Neither follows from the other figures: models share heads, and their size is not always hidden / heads.
    lines.result("kv_token", "B", "2 * layers * kv_heads * head_size * kv_bits / 8");
    lines.result("kv_cache", "B",
                 "kv_token * sequence * batch / (pipeline * min(tensor, kv_heads))");
}

struct Demand {
    double device = 0;  ///< B of each
    double copy = 0;    ///< B of one copy
    double devices = 1; ///< that are asked for
    double usable = 1;  ///< share
};

std::optional<Holder> holder_of(const reference::HardwareEntry& entry, const Demand& need,
                                double part = 1) {
    if (!entry.memory_bytes) return {};
    const double bytes = *entry.memory_bytes * part;
    return Holder{.device = entry.name,
                  .memory_bytes = bytes,
                  .share = need.device / (bytes * need.usable),
                  .least_devices = std::ceil(need.copy / (bytes * need.usable))};
}

std::optional<InstanceHolder> holder_of(const reference::InstanceEntry& entry,
                                        const reference::Hardware& hardware, const Demand& need) {
    const auto* gpu = reference::find_accelerator(hardware, entry.gpu);
    const double gpus = entry.gpus.value_or(0);
    if (gpu == nullptr || !(gpus > 0)) return {};
    const auto one = holder_of(*gpu, need, std::min(gpus, 1.0));
    if (!one) return {};
    const bool fits = one->share <= 1;
    const double on_node = std::max(gpus, 1.0);
    const double nodes = std::ceil((fits ? need.devices : one->least_devices) / on_node);
    const double used = fits ? need.device * need.devices : need.copy;
    return InstanceHolder{.instance = entry.sheet.id,
                          .device = one->device,
                          .gpus = gpus,
                          .nodes = nodes,
                          .share = used / (nodes * on_node * one->memory_bytes * need.usable)};
}

} // namespace

std::span<const Setting> capacity_settings() { return table; }

Result<Capacity> capacity_of(const Given& given, bool training, const reference::Hardware& hardware,
                             const std::vector<reference::CatalogEntry>& only,
                             const std::optional<Model>& model) {
    if (training && model && model->has_experts)
        return fail(
            fmt::format("--train: {} is a mixture of experts, but the formula of activations is "
                        "for dense transformers",
                        model->name));
    for (const auto& [key, value] : given)
        if (std::ranges::find(table, key, &Setting::key)->unit == "count" &&
            value != std::floor(value))
            return fail(fmt::format("--set {}={:g}: expected a whole number", key, value));
    Capacity capacity{.training = training, .lines = {}, .holders = {}, .instances = {}};
    auto& lines = capacity.lines;
    add_inputs(lines, table, given, {}, model ? model->figures : Given{},
               model ? model->source : "");
    add_states(lines, training);
    if (training)
        add_activations(lines);
    else
        add_cache(lines);
    lines.result("device_bytes", "B",
                 training ? "weights + gradients + optimiser + activations" : "weights + kv_cache");
    lines.result("copy_bytes", "B",
                 training ? "parameters * (weight_bits + gradient_bits + optimiser_bits) / 8 + "
                            "activations * tensor"
                          : "parameters * weight_bits / 8 + kv_token * sequence * batch");
    lines.result("devices", "count", "tensor * pipeline * data");
    const auto device = lines.of("device_bytes");
    const auto copy = lines.of("copy_bytes");
    if (!device || !copy) return capacity;
    const Demand need{.device = device->value,
                      .copy = copy->value,
                      .devices = lines.of("devices")->value,
                      .usable = lines.of("usable")->value};
    for (const auto& entry : only.empty() ? reference::entries_of(hardware) : only) {
        if (entry.accelerator != nullptr) {
            if (const auto holder = holder_of(*entry.accelerator, need))
                capacity.holders.push_back(*holder);
        } else if (entry.instance != nullptr) {
            if (const auto holder = holder_of(*entry.instance, hardware, need))
                capacity.instances.push_back(*holder);
        }
    }
    std::ranges::sort(capacity.holders, {}, [](const auto& holder) {
        return std::pair{holder.memory_bytes, holder.device};
    });
    std::ranges::sort(capacity.instances, {}, [](const auto& holder) {
        return std::tuple{holder.nodes, -holder.share, holder.instance};
    });
    return capacity;
}

// --- capacity document ---------------------------------------------------------------------------

using namespace document;

namespace {

Cell number_cell(double number) {
    return {.text = fmt::format("{:.0f}", number), .number = number, .unit = unit_count};
}
Cell share_cell(double share) {
    return {.text = record::human_percent(share), .number = share, .unit = unit_share};
}

} // namespace

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
        MissingInputs missing{table};
        missing.add(capacity.lines, {"device_bytes"});
        auto all = missing.text();
        if (!capacity.lines.of("parameters")) all += say<text::capacity::or_model>();
        document.verdict = say<text::capacity::cannot>(all);
        document.tone = Tone::weak;
    }
    Table parts{.columns = {{.title = say<text::capacity::part>()},
                            {.title = say<text::capacity::a_device>(), .numeric = true}},
                .sheet = say<text::capacity::kicker>()};
    for (const auto* key : {"weights", "gradients", "optimiser", "activations", "kv_token",
                            "kv_cache", "device_bytes"})
        if (const auto* line = capacity.lines.find(key))
            parts.rows.push_back({.cells = {{.text = name_of_line(key)}, cell_of(line)}});
    document.sections.push_back(
        {.title = say<text::capacity::kicker>(), .blocks = {std::move(parts)}, .heading = false});
    std::vector<std::string> assumed;
    for (const auto* line : capacity.lines.behind("device_bytes"))
        if (line->basis == Basis::assumed && line->formula.empty())
            assumed.push_back(fmt::format("{}={:g}", line->key, line->quantity->value));
    assumed.push_back(fmt::format("usable={:g}", capacity.lines.of("usable")->value));
    if (capacity.lines.find("usable")->basis == Basis::assumed)
        document.foot.push_back({.text = say<text::capacity::assumed>(join(assumed))});
    if (!capacity.holders.empty()) {
        Table table{.columns = {{.title = say<text::capacity::device>()},
                                {.title = say<text::capacity::memory>(), .numeric = true},
                                {.title = say<text::capacity::used>(), .numeric = true},
                                {.title = say<text::capacity::least>(), .numeric = true}},
                    .sheet = say<text::capacity::devices>()};
        for (const auto& holder : capacity.holders) {
            auto used = share_cell(holder.share);
            const bool fits = holder.share <= 1;
            if (!fits) used.text = say<text::capacity::too_large>(used.text);
            used.tone = fits ? Tone::good : Tone::bad;
            table.rows.push_back({.cells = {{.text = plain(holder.device)},
                                            {.text = record::human_bytes(holder.memory_bytes),
                                             .number = holder.memory_bytes,
                                             .unit = "B"},
                                            std::move(used),
                                            number_cell(holder.least_devices)}});
        }
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
                                            number_cell(holder.nodes),
                                            share_cell(holder.share),
                                            {.text = fmt::format("{:.3g} × {}", holder.gpus,
                                                                 plain(holder.device))}}});
        document.sections.push_back({.title = say<text::capacity::instances>(),
                                     .question = say<text::capacity::instances_question>(),
                                     .blocks = {std::move(table)}});
    }
    document.sections.push_back(
        {.title = say<text::cost::how>(),
         .blocks = {explained(capacity.lines, {}, explain ? "" : say<text::cost::formula>())}});
    document.foot.push_back({.text = say<text::capacity::method>(), .tone = Tone::quiet});
    return document;
}

ASSAY_FIELDS(Holder, device, memory_bytes, share, (record.share <= 1, "fits"), least_devices)
ASSAY_FIELDS(InstanceHolder, instance, device, gpus, nodes, share)
ASSAY_FIELDS(Capacity, ("assay.capacity/1", "schema"), training, (to_json(record.lines), "lines"),
             (record.holders, "devices"), instances)

std::string to_json(const Capacity& capacity) { return json::to_text(json::encode(capacity)); }

} // namespace assay::purchase
