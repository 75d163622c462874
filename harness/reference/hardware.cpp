// SPDX-License-Identifier: Apache-2.0
#include "reference/hardware.hpp"

#include "base/fields.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/utc.hpp"
#include "json/fields.hpp"
#include "json/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <set>
#include <system_error>
#include <utility>

namespace assay::reference {
namespace {

namespace fs = std::filesystem;

// Where files have what is computed with; a dot leads into an object.
ASSAY_FIELDS(Arithmetic, vector, tensor)
ASSAY_FIELDS(HardwareEntry, name, names, architecture, form_factor, compute_capability,
             multiprocessors, (record.vector_clock_hz, "clock.vector"),
             (record.tensor_clock_hz, "clock.tensor"), (record.peaks.vector, "peaks.vector"),
             (record.peaks.tensor, "peaks.tensor"), (record.sparse, "peaks.sparse"),
             (record.memory_bytes, "memory.bytes"), (record.memory_bandwidth, "memory.bandwidth"),
             (record.memory_bus_bits, "memory.bus_bits"), (record.memory_clock_hz, "memory.clock"),
             (record.l2_bytes, "memory.l2_bytes"), (record.pcie_generation, "pcie.generation"),
             (record.pcie_lanes, "pcie.lanes"), (record.nvlink_bandwidth, "nvlink.bandwidth"),
             (record.nvlink_bridge, "nvlink.bridge"), (record.host_link, "host_link.kind"),
             (record.host_link_bandwidth, "host_link.bandwidth"), power)
ASSAY_FIELDS(Microarchitecture, name, vendor, rates)
ASSAY_FIELDS(ProcessorEntry, name, names, microarchitecture, needs, lacks, cores,
             (record.boost_clock_hz, "clock.boost"), (record.memory_channels, "memory.channels"),
             (record.memory_transfer_rate, "memory.transfer_rate"))
ASSAY_FIELDS(NetworkCardEntry, name, pci, (record.pcie_generation, "pcie.generation"),
             (record.pcie_lanes, "pcie.lanes"))
ASSAY_FIELDS(InstanceEntry, provider, type, vcpus, cores, threads_per_core, memory_gib, cpu, gpu,
             gpus, gpu_memory_gb)

template <class T>
void read(const json::Object& object, std::string_view key, T& out) {
    object.read(key, out);
}
template <class T>
void read(const json::Object& object, std::string_view key,
          std::map<std::string, T, std::less<>>& out) {
    const auto inner = object.object(key);
    for (const auto& item : inner.value().items()) read(inner, item.key(), out[item.key()]);
}
/// Keys missing in the file keep their values.
template <class T>
void read_if(const json::Object& object, std::string_view path, T& out) {
    const auto dot = path.find('.');
    const auto key = path.substr(0, dot);
    if (!object.has(key)) return;
    if (dot == path.npos)
        read(object, key, out);
    else
        read_if(object.object(key), path.substr(dot + 1), out);
}
template <class Entry>
void read_fields(const json::Object& object, Entry& entry) {
    each_field([&](const char* path, auto& member) { read_if(object, path, member); }, entry);
}

/// Exceptions of an accelerator from the rates of its compute capability.
struct Exception {
    std::size_t entry;
    Engine engine;
    std::string precision;
    std::optional<double> rate; ///< nothing: its value does not follow from a rate
};

/// Reads the files, entry by entry. The schema checks the type and sign of every value; the rest is
/// checked here.
class Reading {
public:
    void file(const json::Object& root, const std::string& name, bool is_laid_over) {
        file_ = name;
        is_laid_over_ = is_laid_over;
        checked_ = day(root, "checked");
        sources_.clear();
        for (const auto& item : root.object("sources").value().items())
            sources_.emplace(item.key(), item.value().get<std::string>());
        const auto each = [&](std::string_view key, void (Reading::*read)(const json::Object&)) {
            if (root.has(key))
                root.each(key, [&](const json::Object& item) { (this->*read)(item); });
        };
        each("accelerators", &Reading::accelerator);
        each("rates", &Reading::rates);
        each("microarchitectures", &Reading::microarchitecture);
        each("processors", &Reading::processor);
        each("network_cards", &Reading::network_card);
        each("providers", &Reading::provider);
        each("instances", &Reading::instance);
    }

    Result<Hardware> result() {
        for (auto& entry : hardware_.entries) {
            if (const auto known = rates_.find(entry.compute_capability); known != rates_.end())
                entry.rates = known->second;
            if (const auto known = links_.find(entry.compute_capability); known != links_.end())
                entry.nvlink_rate = known->second;
        }
        for (const auto& [entry, engine, precision, rate] : exceptions_) {
            auto& own = hardware_.entries[entry].rates.of(engine);
            own.erase(precision);
            if (rate) own.emplace(precision, *rate);
        }
        for (auto& entry : hardware_.processors) {
            const auto known = cores_.find(entry.microarchitecture);
            if (known == cores_.end())
                return fail(fmt::format("{}: unknown microarchitecture {}",
                                        json::show_text(entry.name),
                                        json::show_text(entry.microarchitecture)));
            entry.core = known->second;
        }
        return std::move(hardware_);
    }

private:
    void exceptions(const json::Object& rates, std::size_t entry) {
        for (const auto engine : {Engine::vector, Engine::tensor}) {
            std::map<std::string, std::optional<double>, std::less<>> known;
            read_if(rates, engine == Engine::vector ? "vector" : "tensor", known);
            for (auto& [precision, rate] : known)
                exceptions_.push_back(
                    {.entry = entry, .engine = engine, .precision = precision, .rate = rate});
        }
    }

    void rates(const json::Object& object) {
        std::string capability;
        object.read("compute_capability", capability);
        const auto [entry, is_new] = rates_.try_emplace(capability);
        if (!is_new) return object.problem("compute_capability", "occurs twice");
        read_fields(object, entry->second);
        if (object.has("nvlink")) object.read("nvlink", links_[capability]);
        origins(object);
    }

    static std::string text(const json::Object& object, std::string_view key) {
        std::string found;
        object.read(key, found);
        return found;
    }

    /// The entry of that id where a file is laid over others, or a new one, which must have some keys.
    template <class Entry>
    Entry& entry_of(const json::Object& object, const std::string& id, std::vector<Entry>& entries,
                    std::initializer_list<std::string_view> needed = {}) {
        const auto known = is_laid_over_
                               ? std::ranges::find(entries, id, [](auto& e) { return e.sheet.id; })
                               : entries.end();
        is_new_ = known == entries.end();
        auto& entry = is_new_ ? entries.emplace_back() : *known;
        entry.sheet.id = id;
        for (const auto key : needed)
            if (is_new_ && !object.has(key)) text(object, key); // says that it is missing
        read_fields(object, entry);
        if constexpr (requires { entry.id; }) entry.id = id;
        if constexpr (requires { entry.name; }) entry.sheet.name = entry.name;
        if constexpr (requires { entry.names; }) entry.sheet.names = entry.names;
        sheet(object, entry.sheet);
        return entry;
    }

    void accelerator(const json::Object& object) {
        const auto& entry = entry_of(object, text(object, "id"), hardware_.entries,
                                     {"name", "architecture", "form_factor"});
        if (object.has("rates"))
            exceptions(object.object("rates"),
                       static_cast<std::size_t>(&entry - hardware_.entries.data()));
        if (!is_new_) return;
        for (const auto& name : entry.names)
            if (!ids_.insert(fmt::format("{} {:.0f}", name, entry.memory_bytes.value_or(0))).second)
                object.problem("names", fmt::format("{} occurs twice with the same memory",
                                                    json::show_text(name)));
    }

    void microarchitecture(const json::Object& object) {
        std::vector<Microarchitecture> one;
        const auto& core = entry_of(object, text(object, "id"), one);
        if (const auto [known, is_new] = cores_.try_emplace(core.id, core); is_laid_over_)
            known->second = core;
        else if (!is_new)
            object.problem("id", "occurs twice");
    }

    void processor(const json::Object& object) {
        entry_of(object, text(object, "id"), hardware_.processors, {"name", "microarchitecture"});
    }

    void network_card(const json::Object& object) {
        auto& entry =
            entry_of(object, text(object, "id"), hardware_.network_cards, {"name", "pci"});
        constexpr double bytes_of_gigabit = 1e9 / 8;
        std::optional<double> gigabits;
        object.read_if("port_gbps", gigabits);
        if (gigabits) entry.port_bandwidth = *gigabits * bytes_of_gigabit;
        if (!is_new_) return;
        for (const auto& ids : entry.pci)
            if (!ids_.insert(ids).second)
                object.problem("pci", fmt::format("{} occurs twice", json::show_text(ids)));
    }

    void provider(const json::Object& object) {
        const auto id = text(object, "id");
        auto known = std::ranges::find(hardware_.providers, id, &Provider::id);
        if (known == hardware_.providers.end())
            known = hardware_.providers.insert(known, {.id = id, .name = id, .aliases = {}});
        object.read_if("name", known->name);
        std::vector<std::string> aliases;
        object.read_if("aliases", aliases);
        std::ranges::move(aliases, std::back_inserter(known->aliases));
    }

    void instance(const json::Object& object) {
        auto& entry = entry_of(object, text(object, "provider") + '/' + text(object, "type"),
                               hardware_.instances);
        entry.sheet.name = entry.type;
    }

    static std::string day(const json::Object& object, std::string_view key) {
        std::string text;
        object.read_if(key, text);
        if (!text.empty() && !seconds_of(text)) object.expected(key, "a day, as 2026-01-31");
        return text;
    }
    /// Source, reliability and day of a line of figures or conflicts.
    Origin origin(const json::Object& item) const {
        std::string source;
        Origin found{.source = {}, .sure = {}, .checked = day(item, "checked"), .file = file_};
        item.read("source", source);
        item.read("sure", found.sure);
        if (found.checked.empty() && found.sure != "recalled") found.checked = checked_;
        const auto known = sources_.find(source);
        if (known == sources_.end())
            item.problem("source", fmt::format("{} is not among sources", json::show_text(source)));
        else
            found.source = known->second;
        return found;
    }

    Origins origins(const json::Object& object) const {
        Origins found;
        if (!object.has("figures")) return found;
        object.each("figures", [&](const json::Object& item) {
            std::vector<std::string> of;
            item.read("of", of);
            const auto own = origin(item);
            for (auto& path : of)
                if (!found.try_emplace(std::move(path), own).second)
                    item.problem("of", "a figure has two sources");
        });
        return found;
    }

    void sheet(const json::Object& object, Sheet& out) const {
        const auto known = origins(object);
        out.file = file_;
        object.read_if("note", out.note);
        figures(object.value(), "", known, out);
        if (!object.has("conflicts")) return;
        object.each("conflicts", [&](const json::Object& item) {
            auto& other = out.conflicts.emplace_back();
            item.read("of", other.of);
            other.origin = origin(item);
            item.read_if("why", other.why);
            if (const auto* value = item.find("value")) other.value = *value;
        });
    }
    /// Every number and text below `value`.
    void figures(const json::Value& value, const std::string& above, const Origins& known,
                 Sheet& out) const {
        constexpr std::array no_figures{"id",        "name", "names", "figures",
                                        "conflicts", "note", "needs", "lacks",
                                        "provider",  "type", "pci"};
        for (const auto& item : value.items()) {
            if (above.empty() && std::ranges::count(no_figures, item.key()) > 0) continue;
            const auto path = above.empty() ? item.key() : above + '.' + item.key();
            if (item.value().is_object()) {
                figures(item.value(), path, known, out);
                continue;
            }
            auto own = known.find(path);
            if (own == known.end()) own = known.find("*");
            const Figure figure{.value = item.value(),
                                .origin = own != known.end()
                                              ? own->second
                                              : Origin{.source = {}, .sure = {}, .file = file_}};
            const auto [at, is_new] = out.figures.try_emplace(path, figure);
            if (is_new) continue;
            if (at->second.value != figure.value)
                out.replaced.push_back({.of = path,
                                        .value = at->second.value,
                                        .origin = at->second.origin,
                                        .why = {}});
            at->second = figure;
        }
    }

    Hardware hardware_;
    std::map<std::string, std::string, std::less<>> sources_;         ///< of the file being read
    std::map<std::string, Arithmetic, std::less<>> rates_;            ///< by compute capability
    std::map<std::string, std::optional<double>, std::less<>> links_; ///< NVLink's, likewise
    std::map<std::string, Microarchitecture, std::less<>> cores_;     ///< by id
    std::vector<Exception> exceptions_;
    std::set<std::string> ids_;
    std::string file_; ///< being read, as all below
    std::string checked_;
    bool is_laid_over_ = false;
    bool is_new_ = true; ///< the entry
};

/// Drivers before 465 omit the vendor from the name, and "Tesla" was dropped from names over time.
std::string bare(std::string_view name) {
    std::string text{name};
    for (auto& letter : text)
        letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    for (const std::string_view prefix : {"nvidia ", "tesla "})
        if (text.starts_with(prefix)) text.erase(0, prefix.size());
    return text;
}

bool is_called(const HardwareEntry& entry, const std::string& bare_name) {
    return std::ranges::any_of(entry.names,
                               [&](const auto& name) { return bare(name) == bare_name; });
}

double distance(const HardwareEntry& entry, const record::Device& device) {
    if (!entry.memory_bytes || !device.memory_bytes) return std::numeric_limits<double>::max();
    return std::abs(*entry.memory_bytes - static_cast<double>(*device.memory_bytes));
}

} // namespace

std::string with_origin(const std::string& name, const Sheet& sheet, std::string_view path) {
    const auto found = sheet.figures.find(path);
    if (found == sheet.figures.end() || found->second.origin.source.empty()) return name;
    const auto& origin = found->second.origin;
    return fmt::format("{} ({}: {})", name, origin.sure, origin.source);
}

std::optional<double> clock_of(const HardwareEntry& entry, Engine engine,
                               std::string_view precision) {
    return engine == Engine::tensor && precision != "fp64" ? entry.tensor_clock_hz
                                                           : entry.vector_clock_hz;
}

Result<Hardware> parse_hardware(const std::vector<HardwareText>& files, const json::Value& schema) {
    Reading reading;
    const json::Schema rules{schema};
    for (const auto& [text, source, is_laid_over] : files) {
        ASSAY_TRY(const auto value, json::parse(text, source));
        ASSAY_TRY(rules.check(value, source));
        json::Document document{value, source};
        reading.file(document.root(), source, is_laid_over);
        ASSAY_TRY(document.result());
    }
    return reading.result();
}

Result<Hardware> read_hardware(const std::vector<std::string>& over) {
    const auto share = layout().share;
    const auto folder = share / "hardware";
    std::vector<fs::path> paths;
    std::error_code error;
    for (fs::directory_iterator item{folder, error}, end; !error && item != end;
         item.increment(error))
        if (item->path().extension() == ".json") paths.push_back(item->path());
    if (error)
        return fail(fmt::format("{}: cannot be read: {}", folder.string(), error.message()),
                    Fault::environment);
    std::ranges::sort(paths);
    const auto installed = paths.size();
    paths.insert(paths.end(), over.begin(), over.end());
    ASSAY_TRY(const auto rules, json::read_file(share / "schema" / "hardware.json"));
    std::vector<HardwareText> files;
    for (const auto& path : paths) {
        ASSAY_TRY(auto text, read_whole(path, json::Limits{}.bytes));
        files.push_back({.text = std::move(text),
                         .source = path.string(),
                         .is_laid_over = files.size() >= installed});
    }
    return parse_hardware(files, rules);
}

const HardwareEntry* find_hardware(const Hardware& hardware, const record::Device& device) {
    const auto name = bare(device.name);
    const HardwareEntry* nearest = nullptr;
    for (const auto& entry : hardware.entries)
        if (is_called(entry, name) &&
            (nearest == nullptr || distance(entry, device) < distance(*nearest, device)))
            nearest = &entry;
    return nearest;
}

std::string unknown_hardware(const Hardware& hardware, const record::Device& device) {
    std::vector<std::string> names;
    for (const auto& entry : hardware.entries)
        names.insert(names.end(), entry.names.begin(), entry.names.end());
    const auto near = nearest(device.name, names);
    return fmt::format("configs/hardware has no {}{}", json::show_text(device.name),
                       near.empty() ? "" : fmt::format("; nearest is {}", json::show_text(near)));
}

std::optional<HardwareEntry> find_hardware(const record::Device& device) {
    const auto& hardware = installed_hardware();
    if (!hardware) return {};
    const auto* entry = find_hardware(*hardware, device);
    if (entry == nullptr) return {};
    return *entry;
}

const Result<Hardware>& installed_hardware() {
    static const auto hardware = read_hardware();
    return hardware;
}

std::optional<double> pcie_lane_rate(int generation) {
    // GT/s and coding: PCI Express Base Specification 6.0, sections 2.2 and 4.2; 8b/10b, then 128b/130b,
    // then flits of 256 bytes, 14 of them for errors.
    constexpr double bits_per_byte = 8;
    constexpr std::array rates{2.5e9 * 8 / 10,   5e9 * 8 / 10,     8e9 * 128 / 130,
                               16e9 * 128 / 130, 32e9 * 128 / 130, 64e9 * 242 / 256};
    if (generation < 1 || std::cmp_greater(generation, rates.size())) return {};
    return rates.at(static_cast<std::size_t>(generation) - 1) / bits_per_byte;
}

} // namespace assay::reference
