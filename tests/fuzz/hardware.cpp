// SPDX-License-Identifier: Apache-2.0
//
// A file of hardware is refused with a message that names it, or every figure in it is one that
// arithmetic can use.
#include "reference/hardware.hpp"

#include "base/file.hpp"
#include "fuzz.hpp"
#include "reference/catalog.hpp"

#include <cmath>
#include <string>

namespace {

using namespace assay;

bool is_usable(const reference::ByPrecision& figures) {
    for (const auto& [precision, value] : figures)
        if (!std::isfinite(value) || !(value > 0)) return false;
    return true;
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto schema = json::read_file(layout().share / "schema" / "hardware.json");
    fuzz::expect(schema.has_value());
    // Laid over itself it replaces nothing, and adds nothing but conflicts.
    const reference::HardwareText file{.text = std::string{fuzz::text(data, size)},
                                       .source = "input"};
    const auto hardware = reference::parse_hardware({file}, *schema);
    const auto twice = reference::parse_hardware(
        {file, {.text = file.text, .source = file.source, .is_laid_over = true}}, *schema);
    if (fuzz::refused(hardware)) return 0;
    for (const auto& entry : hardware->entries) {
        for (const auto engine : {reference::Engine::vector, reference::Engine::tensor})
            fuzz::expect(is_usable(entry.peaks.of(engine)) && is_usable(entry.rates.of(engine)));
        record::Device device;
        if (!entry.names.empty()) {
            device.name = entry.names.front();
            fuzz::expect(reference::find_hardware(*hardware, device) != nullptr);
        }
        device.name += "?";
        fuzz::expect(!reference::unknown_hardware(*hardware, device).empty());
    }
    for (const auto& entry : hardware->processors) {
        for (const auto& [isa, rates] : entry.core.rates) fuzz::expect(is_usable(rates));
        record::Machine machine;
        machine.cpu_vendor = entry.core.vendor;
        if (!entry.names.empty()) machine.cpu_model = entry.names.front();
        machine.isa = entry.needs;
        reference::find_processor(hardware->processors, machine);
    }
    for (const auto& entry : reference::entries_of(*hardware)) {
        fuzz::expect(!reference::entries_like(*hardware, entry.sheet->id).empty());
        if (entry.instance != nullptr)
            reference::find_instance(*hardware, entry.instance->provider, entry.instance->type);
    }
    if (twice) fuzz::expect(twice->providers.size() == hardware->providers.size());
    return 0;
}
