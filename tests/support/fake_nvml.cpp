// SPDX-License-Identifier: Apache-2.0
//
// A management library that says what a file tells it to, for machines without the devices. The file is
// named by ASSAY_FAKE_NVML and read again at each nvmlInit; without it there is no device. Lines:
//
//     # whose  what    value
//     - driver         580.65.06       of the library: driver, cuda, count, code.init, confidential
//     * name           NVIDIA H200     of every device that has none of its own
//     0 energy         1000,4000       the first call gets the first value, the last repeats
//     0 parts          2               divided; the parts are called 0.0 and 0.1
//     0 code.energy    0,15            what the calls return, whatever the value
//     1 field.251      5e9             a field value
//
// What has no line is not supported.

#include "machine/nvml_abi.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>

namespace nvml = assay::machine::nvml;

struct assay::machine::nvml::Opaque {
    std::string id; ///< "0", "0.1"
    machine::nvml::Handle whole = nullptr;
    unsigned index = 0;
};

namespace {

using nvml::Handle;

class World {
public:
    void read() {
        const std::scoped_lock lock{mutex_};
        values_.clear();
        next_.clear();
        devices_.clear();
        const char* path = std::getenv("ASSAY_FAKE_NVML");
        std::ifstream file{path == nullptr ? "" : path};
        std::string line;
        while (std::getline(file, line)) {
            std::istringstream words{line};
            std::string whose;
            std::string what;
            std::string value;
            words >> whose >> what >> std::ws;
            std::getline(words, value);
            if (!whose.empty() && whose != "#") values_[whose.append(1, ' ').append(what)] = value;
        }
    }

    /// Nothing where no line says it.
    std::optional<std::string> text(const std::string& whose, const std::string& what) {
        const std::scoped_lock lock{mutex_};
        auto found = values_.find(whose + ' ' + what);
        if (found == values_.end() && whose != "-") found = values_.find("* " + what);
        if (found == values_.end()) return {};
        std::istringstream all{found->second};
        std::string value;
        std::size_t& next = next_[whose + ' ' + what];
        for (std::size_t i = 0; i <= next; ++i)
            if (!std::getline(all, value, ',')) break; // the last one stays
        ++next;
        return value;
    }
    std::optional<double> number(const std::string& whose, const std::string& what) {
        const auto value = text(whose, what);
        if (!value) return {};
        return std::strtod(value->c_str(), nullptr);
    }
    int code(const std::string& whose, const std::string& what) {
        return static_cast<int>(number(whose, "code." + what).value_or(nvml::success));
    }

    Handle device(const std::string& id, unsigned index, Handle whole) {
        const std::scoped_lock lock{mutex_};
        const auto known = std::ranges::find(devices_, id, &nvml::Opaque::id);
        if (known != devices_.end()) return &*known;
        devices_.push_back({.id = id, .whole = whole, .index = index});
        Handle made = &devices_.back();
        if (whole == nullptr) made->whole = made;
        return made;
    }

private:
    std::mutex mutex_;
    std::map<std::string, std::string> values_;
    std::map<std::string, std::size_t> next_;
    std::deque<nvml::Opaque> devices_; // handles stay where they are
};

World& world() {
    static World one;
    return one;
}

template <class T>
int give(const std::string& whose, const char* what, T* out) {
    if (const int code = world().code(whose, what); code != nvml::success) return code;
    const auto value = world().number(whose, what);
    if (!value) return nvml::not_supported;
    *out = static_cast<T>(*value);
    return nvml::success;
}

int give_text(const std::string& whose, const char* what, char* out, unsigned size) {
    if (const int code = world().code(whose, what); code != nvml::success) return code;
    const auto value = world().text(whose, what);
    if (!value) return nvml::not_supported;
    if (value->size() >= size) return nvml::insufficient_size;
    std::memcpy(out, value->c_str(), value->size() + 1);
    return nvml::success;
}

unsigned count_of(const std::string& whose, const char* what) {
    return static_cast<unsigned>(world().number(whose, what).value_or(0));
}

} // namespace

extern "C" {

// NOLINTBEGIN(readability-identifier-naming): NVML's names
#define ASSAY_TEXT(function, what)                                                                 \
    int function(Handle d, char* out, unsigned size) { return give_text(d->id, what, out, size); }
#define ASSAY_NUMBER(function, type, what)                                                         \
    int function(Handle d, type* out) { return give(d->id, what, out); }

int nvmlInit_v2() {
    world().read();
    return world().code("-", "init");
}
int nvmlShutdown() { return nvml::success; }
const char* nvmlErrorString(int code) {
    return code == nvml::gpu_is_lost ? "GPU is lost" : "Some error";
}
int nvmlSystemGetDriverVersion(char* out, unsigned size) {
    return give_text("-", "driver", out, size);
}
int nvmlDeviceGetCount_v2(unsigned* out) { return give("-", "count", out); }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, Handle* out) {
    const std::string id = std::to_string(index);
    *out = world().device(id, index, nullptr);
    return world().code(id, "handle");
}
ASSAY_TEXT(nvmlDeviceGetUUID, "uuid")
ASSAY_TEXT(nvmlDeviceGetName, "name")
ASSAY_TEXT(nvmlDeviceGetSerial, "serial")
ASSAY_TEXT(nvmlDeviceGetVbiosVersion, "vbios")
ASSAY_TEXT(nvmlDeviceGetInforomImageVersion, "inforom")
int nvmlDeviceGetIndex(Handle d, unsigned* out) {
    *out = d->index;
    return nvml::success;
}
ASSAY_NUMBER(nvmlDeviceGetPowerUsage, unsigned, "power")
int nvmlDeviceGetClockInfo(Handle d, int kind, unsigned* out) {
    return give(d->id, kind == nvml::clock_sm ? "clock" : "memory_clock", out);
}
int nvmlDeviceGetTemperature(Handle d, int, unsigned* out) {
    return give(d->id, "temperature", out);
}
ASSAY_NUMBER(nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long, "reasons")

int nvmlDeviceGetHandleByUUID(const char* uuid, Handle* out) {
    const unsigned count = count_of("-", "count");
    for (unsigned i = 0; i < count; ++i) {
        const std::string id = std::to_string(i);
        *out = world().device(id, i, nullptr);
        if (world().text(id, "uuid") == uuid) return world().code(id, "handle");
        const unsigned parts = count_of(id, "parts");
        for (unsigned k = 0; k < parts; ++k) {
            const std::string part = id + '.' + std::to_string(k);
            if (world().text(part, "uuid") != uuid) continue;
            *out = world().device(part, i, *out);
            return nvml::success;
        }
    }
    return nvml::not_found;
}

#if !defined(ASSAY_FAKE_OLD_NVML) // a library of years ago has none of these

int nvmlSystemGetCudaDriverVersion_v2(int* out) { return give("-", "cuda", out); }
int nvmlSystemGetConfComputeState(nvml::ConfidentialState* out) {
    return give("-", "confidential", &out->feature);
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* address, Handle* out) {
    const unsigned count = count_of("-", "count");
    for (unsigned i = 0; i < count; ++i) {
        const std::string id = std::to_string(i);
        *out = world().device(id, i, nullptr);
        if (world().text(id, "address") == address) return world().code(id, "handle");
    }
    return nvml::not_found;
}
int nvmlDeviceIsMigDeviceHandle(Handle d, unsigned* out) {
    *out = d != d->whole ? 1 : 0;
    return nvml::success;
}
int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(Handle d, Handle* out) {
    *out = d->whole;
    return nvml::success;
}
int nvmlDeviceGetMigMode(Handle d, unsigned* now, unsigned* later) {
    *now = *later = count_of(d->id, "parts") > 0 ? 1 : 0;
    return nvml::success;
}
int nvmlDeviceGetMaxMigDeviceCount(Handle, unsigned* out) {
    *out = 7;
    return nvml::success;
}
int nvmlDeviceGetMigDeviceHandleByIndex(Handle d, unsigned index, Handle* out) {
    if (index >= count_of(d->id, "parts")) return nvml::not_found;
    *out = world().device(d->id + '.' + std::to_string(index), d->index, d);
    return nvml::success;
}
int nvmlDeviceGetAttributes_v2(Handle d, nvml::Attributes* out) {
    out->gpu_slices = 1;
    out->memory_mebibytes = count_of(d->id, "part_mebibytes");
    return give(d->id, "multiprocessors", &out->multiprocessors);
}
int nvmlDeviceGetPciInfo_v3(Handle d, nvml::PciInfo* out) {
    out->domain = 0;
    return give(d->id, "bus", &out->bus);
}
int nvmlDeviceGetCudaComputeCapability(Handle d, int* major, int* minor) {
    double capability = 0;
    const int code = give(d->id, "capability", &capability);
    *major = static_cast<int>(capability);
    *minor = static_cast<int>(std::lround(capability * 10)) % 10;
    return code;
}
ASSAY_NUMBER(nvmlDeviceGetNumGpuCores, unsigned, "cores")
int nvmlDeviceGetMemoryInfo_v2(Handle d, nvml::MemoryInfo* out) {
    if (out->version != nvml::memory_version) return nvml::argument_version_mismatch;
    return give(d->id, "memory", &out->total);
}
ASSAY_NUMBER(nvmlDeviceGetMemoryBusWidth, unsigned, "bus_bits")
int nvmlDeviceGetMaxClockInfo(Handle d, int kind, unsigned* out) {
    return give(d->id, kind == nvml::clock_sm ? "clock_max" : "memory_clock_max", out);
}
ASSAY_NUMBER(nvmlDeviceGetEnforcedPowerLimit, unsigned, "power_limit")
ASSAY_NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, unsigned, "power_default")
int nvmlDeviceGetEccMode(Handle d, int* now, int* later) {
    *later = 0;
    return give(d->id, "ecc", now);
}
ASSAY_NUMBER(nvmlDeviceGetVirtualizationMode, int, "virtualization")
ASSAY_NUMBER(nvmlDeviceGetPersistenceMode, int, "persistence")
int nvmlDeviceGetFieldValues(Handle d, int count, nvml::FieldValue* values) {
    if (const int code = world().code(d->id, "fields"); code != nvml::success) return code;
    for (int i = 0; i < count; ++i) {
        nvml::FieldValue& field = values[i];
        std::string what = "field." + std::to_string(field.field);
        if (field.scope != 0) // "field.138.all", "field.202.3"
            what += field.scope == nvml::all_links ? ".all" : '.' + std::to_string(field.scope);
        std::uint64_t value = 0;
        field.result = give(d->id, what.c_str(), &value);
        field.type = nvml::type_ulonglong;
        std::memcpy(field.value.data(), &value, sizeof value);
    }
    return nvml::success;
}
int nvmlDeviceGetTemperatureV(Handle d, nvml::Temperature* out) {
    if (out->version != nvml::temperature_version) return nvml::argument_version_mismatch;
    return give(d->id, "temperature", &out->celsius);
}
ASSAY_NUMBER(nvmlDeviceGetCurrentClocksEventReasons, unsigned long long, "reasons")
ASSAY_NUMBER(nvmlDeviceGetTotalEnergyConsumption, unsigned long long, "energy")
int nvmlDeviceGetTotalEccErrors(Handle d, int kind, int, unsigned long long* out) {
    return give(d->id, kind == nvml::ecc_corrected ? "ecc_corrected" : "ecc_uncorrected", out);
}
int nvmlDeviceGetRemappedRows(Handle d, unsigned* corrected, unsigned* uncorrected,
                              unsigned* pending, unsigned* failed) {
    *uncorrected = count_of(d->id, "remapped_uncorrected");
    *pending = count_of(d->id, "remapping_pending");
    *failed = count_of(d->id, "remapping_failed");
    return give(d->id, "remapped", corrected);
}
ASSAY_NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, unsigned, "generation")
ASSAY_NUMBER(nvmlDeviceGetCurrPcieLinkWidth, unsigned, "width")
ASSAY_NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, unsigned, "generation_max")
ASSAY_NUMBER(nvmlDeviceGetMaxPcieLinkWidth, unsigned, "width_max")
int nvmlDeviceGetNvLinkState(Handle d, unsigned link, int* out) {
    // "18": so many, all up; "18 17": 17 of them
    if (const int code = world().code(d->id, "nvlinks"); code != nvml::success) return code;
    const auto links = world().text(d->id, "nvlinks");
    if (!links) return nvml::not_supported;
    std::istringstream words{*links};
    unsigned there = 0;
    words >> there;
    unsigned up = there;
    words >> up;
    if (link >= there) return 2; // invalid argument
    *out = link < up ? 1 : 0;
    return nvml::success;
}
int nvmlDeviceGetGpuFabricInfoV(Handle d, nvml::FabricInfo* out) {
    // "3 0 7 1": state, status, clique, health
    const auto text = world().text(d->id, "fabric");
    if (out->version != nvml::fabric_version) return nvml::argument_version_mismatch;
    if (!text) return nvml::not_supported;
    std::istringstream words{*text};
    unsigned state = 0;
    words >> state >> out->status >> out->clique >> out->health;
    out->state = static_cast<unsigned char>(state);
    return nvml::success;
}
ASSAY_NUMBER(nvmlDeviceGetPcieReplayCounter, unsigned, "replays")
int nvmlDeviceGetComputeRunningProcesses_v3(Handle d, unsigned* count, nvml::ProcessInfo* out) {
    if (const int code = world().code(d->id, "processes"); code != nvml::success) return code;
    const auto list = world().text(d->id, "processes"); // "100 200", or a number of them: "x300"
    if (!list) return nvml::not_supported;
    std::istringstream words{*list};
    unsigned found = 0;
    std::uint32_t pid = 0;
    if (list->starts_with('x')) {
        const auto many = static_cast<unsigned>(std::strtoul(list->c_str() + 1, nullptr, 10));
        for (; found < std::min(many, *count); ++found) out[found].pid = 1000 + found;
        *count = many;
        return many > found ? nvml::insufficient_size : nvml::success;
    }
    while (found < *count && words >> pid) out[found++].pid = pid;
    *count = found;
    return nvml::success;
}

#endif

// NOLINTEND(readability-identifier-naming)

} // extern "C"
