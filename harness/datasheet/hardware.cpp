// SPDX-License-Identifier: Apache-2.0
#include "datasheet/hardware.hpp"

#include "base/file.hpp"
#include "base/nearest.hpp"
#include "base/utc.hpp"
#include "json/fields.hpp"
#include "json/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <system_error>
#include <utility>

namespace assay::datasheet {
namespace {

namespace fs = std::filesystem;

struct EngineName {
    const char* name;
    Engine engine;
};
constexpr std::array engines{EngineName{"vector", Engine::vector},
                             EngineName{"tensor", Engine::tensor}};

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
        if (root.has("accelerators"))
            root.each("accelerators", [&](const json::Object& item) { accelerator(item); });
        if (root.has("rates")) root.each("rates", [&](const json::Object& item) { rates(item); });
        if (root.has("microarchitectures"))
            root.each("microarchitectures",
                      [&](const json::Object& item) { microarchitecture(item); });
        if (root.has("processors"))
            root.each("processors", [&](const json::Object& item) { processor(item); });
        if (root.has("network_cards"))
            root.each("network_cards", [&](const json::Object& item) { network_card(item); });
        if (root.has("providers"))
            root.each("providers", [&](const json::Object& item) { provider(item); });
        if (root.has("instances"))
            root.each("instances", [&](const json::Object& item) { instance(item); });
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
                return fail(fmt::format("{}: no file of hardware has the microarchitecture {}",
                                        json::show_text(entry.name),
                                        json::show_text(entry.microarchitecture)));
            entry.core = known->second;
        }
        return std::move(hardware_);
    }

private:
    static void by_precision(const json::Object& values, ByPrecision& out) {
        for (const auto& item : values.value().items()) values.read(item.key(), out[item.key()]);
    }
    static void by_precision(const json::Object& object, Arithmetic& out) {
        for (const auto& [name, engine] : engines)
            if (object.has(name)) by_precision(object.object(name), out.of(engine));
    }

    void exceptions(const json::Object& object, std::size_t entry) {
        for (const auto& [name, engine] : engines) {
            if (!object.has(name)) continue;
            const auto values = object.object(name);
            for (const auto& item : values.value().items()) {
                Exception exception{
                    .entry = entry, .engine = engine, .precision = item.key(), .rate = {}};
                values.read(item.key(), exception.rate);
                exceptions_.push_back(std::move(exception));
            }
        }
    }

    void rates(const json::Object& object) {
        std::string capability;
        object.read("compute_capability", capability);
        const auto [entry, is_new] = rates_.try_emplace(capability);
        if (!is_new) return object.problem("compute_capability", "occurs twice");
        by_precision(object, entry->second);
        if (object.has("nvlink")) object.read("nvlink", links_[capability]);
        origins(object);
    }

    /// The entry of that id where a file is laid over others, or a new one.
    template <class Entry>
    Entry& entry_of(std::vector<Entry>& entries, const std::string& id) {
        const auto known = is_laid_over_
                               ? std::ranges::find(entries, id, [](auto& e) { return e.sheet.id; })
                               : entries.end();
        is_new_ = known == entries.end();
        auto& entry = is_new_ ? entries.emplace_back() : *known;
        entry.sheet.id = id;
        return entry;
    }
    /// What a new entry must have, and one that is laid over may have.
    template <class T>
    void take(const json::Object& object, std::string_view key, T& out) const {
        if (is_new_ || object.has(key)) object.read(key, out);
    }

    void accelerator(const json::Object& object) {
        std::string id;
        object.read("id", id);
        auto& entry = entry_of(hardware_.entries, id);
        entry.id = id;
        take(object, "name", entry.name);
        object.read_if("names", entry.names);
        take(object, "architecture", entry.architecture);
        take(object, "form_factor", entry.form_factor);
        object.read_if("compute_capability", entry.compute_capability);
        object.read_if("multiprocessors", entry.multiprocessors);
        if (object.has("clock")) {
            object.object("clock").read_if("vector", entry.vector_clock_hz);
            object.object("clock").read_if("tensor", entry.tensor_clock_hz);
        }
        if (object.has("peaks")) {
            by_precision(object.object("peaks"), entry.peaks);
            if (object.object("peaks").has("sparse"))
                by_precision(object.object("peaks").object("sparse"), entry.sparse);
        }
        if (object.has("rates"))
            exceptions(object.object("rates"),
                       static_cast<std::size_t>(&entry - hardware_.entries.data()));
        if (object.has("memory")) memory(object.object("memory"), entry);
        links(object, entry);
        object.read_if("power", entry.power);
        sheet(object, entry);
        if (!is_new_) return;
        for (const auto& name : entry.names)
            if (!ids_.insert(fmt::format("{} {:.0f}", name, entry.memory_bytes.value_or(0))).second)
                object.problem("names", fmt::format("{} occurs twice with the same memory",
                                                    json::show_text(name)));
    }

    void microarchitecture(const json::Object& object) {
        is_new_ = true;
        Microarchitecture core;
        object.read("id", core.id);
        object.read("name", core.name);
        object.read("vendor", core.vendor);
        const auto rates = object.object("rates");
        for (const auto& item : rates.value().items())
            by_precision(rates.object(item.key()), core.rates[item.key()]);
        sheet(object, core);
        if (const auto [known, is_new] = cores_.try_emplace(core.id, core); is_laid_over_)
            known->second = core;
        else if (!is_new)
            object.problem("id", "occurs twice");
    }

    void processor(const json::Object& object) {
        std::string id;
        object.read("id", id);
        auto& entry = entry_of(hardware_.processors, id);
        entry.id = id;
        take(object, "name", entry.name);
        object.read_if("names", entry.names);
        take(object, "microarchitecture", entry.microarchitecture);
        object.read_if("needs", entry.needs);
        object.read_if("lacks", entry.lacks);
        object.read_if("cores", entry.cores);
        if (object.has("clock")) object.object("clock").read_if("boost", entry.boost_clock_hz);
        if (object.has("memory")) {
            object.object("memory").read_if("channels", entry.memory_channels);
            object.object("memory").read_if("transfer_rate", entry.memory_transfer_rate);
        }
        sheet(object, entry);
    }

    void network_card(const json::Object& object) {
        std::string id;
        object.read("id", id);
        auto& entry = entry_of(hardware_.network_cards, id);
        entry.id = id;
        take(object, "name", entry.name);
        take(object, "pci", entry.pci);
        constexpr double bytes_of_gigabit = 1e9 / 8;
        std::optional<double> gigabits;
        object.read_if("port_gbps", gigabits);
        if (gigabits) entry.port_bandwidth = *gigabits * bytes_of_gigabit;
        if (object.has("pcie")) {
            object.object("pcie").read_if("generation", entry.pcie_generation);
            object.object("pcie").read_if("lanes", entry.pcie_lanes);
        }
        sheet(object, entry);
        if (!is_new_) return;
        for (const auto& ids : entry.pci)
            if (!ids_.insert(ids).second)
                object.problem("pci", fmt::format("{} occurs twice", json::show_text(ids)));
    }

    void provider(const json::Object& object) {
        std::string id;
        object.read("id", id);
        auto known = std::ranges::find(hardware_.providers, id, &Provider::id);
        if (known == hardware_.providers.end())
            known = hardware_.providers.insert(known, {.id = id, .name = id, .aliases = {}});
        object.read_if("name", known->name);
        std::vector<std::string> aliases;
        object.read_if("aliases", aliases);
        std::ranges::move(aliases, std::back_inserter(known->aliases));
    }

    void instance(const json::Object& object) {
        std::string provider;
        std::string type;
        object.read("provider", provider);
        object.read("type", type);
        auto& entry = entry_of(hardware_.instances, provider + '/' + type);
        entry.provider = provider;
        entry.type = type;
        object.read_if("vcpus", entry.vcpus);
        object.read_if("cores", entry.cores);
        object.read_if("threads_per_core", entry.threads_per_core);
        object.read_if("memory_gib", entry.memory_gib);
        object.read_if("cpu", entry.cpu);
        object.read_if("gpu", entry.gpu);
        object.read_if("gpus", entry.gpus);
        object.read_if("gpu_memory_gb", entry.gpu_memory_gb);
        entry.sheet.name = type;
        sheet(object, entry.sheet);
    }

    static void memory(const json::Object& object, HardwareEntry& entry) {
        object.read_if("bytes", entry.memory_bytes);
        object.read_if("bandwidth", entry.memory_bandwidth);
        object.read_if("bus_bits", entry.memory_bus_bits);
        object.read_if("clock", entry.memory_clock_hz);
        object.read_if("l2_bytes", entry.l2_bytes);
    }

    static void links(const json::Object& object, HardwareEntry& entry) {
        if (object.has("pcie")) {
            object.object("pcie").read_if("generation", entry.pcie_generation);
            object.object("pcie").read_if("lanes", entry.pcie_lanes);
        }
        if (object.has("nvlink")) {
            object.object("nvlink").read("bandwidth", entry.nvlink_bandwidth);
            object.object("nvlink").read("bridge", entry.nvlink_bridge);
        }
        if (!object.has("host_link")) return;
        object.object("host_link").read("kind", entry.host_link);
        object.object("host_link").read("bandwidth", entry.host_link_bandwidth);
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

    template <class Entry>
    void sheet(const json::Object& object, Entry& entry) const {
        entry.sheet.id = entry.id;
        entry.sheet.name = entry.name;
        if constexpr (requires { entry.names; }) entry.sheet.names = entry.names;
        sheet(object, entry.sheet);
        for (auto& [path, own] : origins(object)) entry.figures.insert_or_assign(path, own);
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

std::optional<double> clock_of(const HardwareEntry& entry, Engine engine,
                               std::string_view precision) {
    return engine == Engine::tensor && precision != "fp64" ? entry.tensor_clock_hz
                                                           : entry.vector_clock_hz;
}

Result<Hardware> parse_hardware(const std::vector<HardwareText>& files, const json::Value& schema) {
    Reading reading;
    for (const auto& [text, source, is_laid_over] : files) {
        const auto value = json::parse(text, source);
        if (!value) return tl::unexpected{value.error()};
        if (auto checked = json::check_schema(*value, schema, source); !checked)
            return tl::unexpected{std::move(checked).error()};
        json::Document document{*value, source};
        reading.file(document.root(), source, is_laid_over);
        if (auto read = document.result(); !read) return tl::unexpected{std::move(read).error()};
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
    const auto rules = json::read_file(share / "schema" / "hardware.json");
    if (!rules) return tl::unexpected{rules.error()};
    std::vector<HardwareText> files;
    for (const auto& path : paths) {
        auto text = read_whole(path, json::Limits{}.bytes);
        if (!text) return tl::unexpected{std::move(text).error()};
        files.push_back({.text = std::move(*text),
                         .source = path.string(),
                         .is_laid_over = files.size() >= installed});
    }
    return parse_hardware(files, *rules);
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
    const auto hardware = read_hardware();
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

} // namespace assay::datasheet
