// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "machine/system.hpp"
#include "record/same_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

namespace assay::machine {
namespace {

namespace fs = std::filesystem;

// Distinguishes our ids from others made from the same machine-id. Random; must never change, or every
// machine becomes a new one.
constexpr std::string_view application = "assay.machine/1 5f1d8c0e7a3b4962b0c47d19e6f2a853";

const fs::path system_folder = "/sys/devices/system/cpu";

std::string machine_id(const Files& files) {
    for (const char* const path : {"/etc/machine-id", "/var/lib/dbus/machine-id"}) {
        std::string id = files.line(path);
        // systemd writes "uninitialized" into images that get an id at first boot.
        if (id.size() == 32 && id.find_first_not_of("0123456789abcdef") == std::string::npos)
            return id;
    }
    return {};
}

/// Those that are there, online or not: "0-63". Where /sys is hidden, those that are online.
std::string present_cpus(const Files& files) {
    std::string present = files.line(system_folder / "present");
    if (!present.empty()) return present;
    std::size_t count = 0;
    const std::string cpus = files.text("/proc/cpuinfo");
    for (const auto line : split(cpus, '\n'))
        if (line.starts_with("processor")) ++count;
    return count < 2 ? "0" : fmt::format("0-{}", count - 1);
}

std::string id_by_system(const Files& files, const record::Machine& machine) {
    std::string facts{application};
    for (const std::string& fact :
         {machine.architecture, machine.cpu_vendor, machine.cpu_model, machine.provider,
          machine.instance, machine.system, present_cpus(files)})
        facts += '\n' + fact;
    // 64 bits: among a million machines two share an id with probability 3e-8.
    return to_hex(hmac_sha256(machine_id(files), facts)).substr(0, 16);
}

/// Another processor or instance type makes another machine.
std::string id_by(std::string_view secret, std::string_view kind, const record::Machine& machine) {
    const bool rented = kind == "cloud_instance";
    const auto facts = fmt::format("{}\n{}\n{}\n{}\n{}", application, kind, machine.cpu_model,
                                   rented ? machine.provider : "", rented ? machine.instance : "");
    return to_hex(hmac_sha256(secret, facts)).substr(0, 16);
}

/// UUIDs that vendors leave in boards without one, in both orders of its
/// bytes. Those of few different digits are refused anyway.
constexpr std::array<std::string_view, 5> placeholders = {
    "03000200-0400-0500-0006-000700080009", "00020003-0004-0005-0006-000700080009",
    "12345678-1234-5678-90ab-cddeefaabbcc", "78563412-3412-7856-90ab-cddeefaabbcc",
    "4c4c4544-0000-2010-8020-80c04f202020"};

/// UUID from the firmware, readable by root; empty if it is not this machine's own.
std::string product_uuid(const Files& files) {
    std::string uuid = lower(files.line("/sys/class/dmi/id/product_uuid"));
    if (uuid.size() != 36 || std::ranges::find(placeholders, uuid) != placeholders.end()) return {};
    std::set<char> digits;
    for (std::size_t i = 0; i < uuid.size(); ++i) {
        const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (is_dash != (uuid[i] == '-')) return {};
        if (is_dash) continue;
        if (std::string_view{"0123456789abcdef"}.find(uuid[i]) == std::string_view::npos) return {};
        digits.insert(uuid[i]);
    }
    // All zeros, all F, fefefefe-...: a random one has so few with a probability of 1e-16.
    constexpr std::size_t least_digits = 5;
    return digits.size() < least_digits ? std::string{} : uuid;
}

/// Texts that vendors leave in place of a serial number ("0123456789", "xxxxxxxx"), and addresses of virtual devices
/// that have none ("00:00:00:00:00:00"): equal in many machines.
bool is_placeholder(std::string_view text) {
    constexpr std::string_view counted = "01234567890";
    std::set<char> different;
    for (const char c : text)
        if (is_word(c, "")) different.insert(c);
    return different.size() < 2 || counted.find(text) != counted.npos;
}

void add(std::vector<record::Serial>& serials, const char* kind, std::string where,
         std::string text) {
    if (is_placeholder(text)) return;
    serials.push_back(
        {.kind = kind, .where = std::move(where), .text = std::move(text), .keyed = {}});
}

void add_network(const Files& files, std::vector<record::Serial>& serials) {
    const fs::path interfaces = "/sys/class/net";
    for (const std::string& name : files.names(interfaces)) {
        const auto folder = interfaces / name;
        // Not of software, not one part of a shared device (SR-IOV), not made up at each start.
        if (!files.exists(folder / "device") || files.exists(folder / "device" / "physfn") ||
            files.number(folder / "type") != 1 ||
            files.number(folder / "addr_assign_type").value_or(0) != 0)
            continue;
        auto address = files.line(folder / "bonding_slave" / "perm_hwaddr");
        if (address.empty()) address = files.line(folder / "address");
        const auto place = files.link_name(folder / "device");
        add(serials, "network", place.empty() ? name : place, lower(address));
    }
    const fs::path ports = "/sys/class/infiniband";
    for (const std::string& name : files.names(ports)) {
        const auto folder = ports / name;
        auto place = files.link_name(folder / "device");
        if (place.empty()) place = name;
        const auto known = [&](const record::Serial& one) { return one.where == place; };
        if (files.exists(folder / "device" / "physfn") || std::ranges::any_of(serials, known))
            continue;
        add(serials, "network", place, lower(files.line(folder / "node_guid")));
    }
}

} // namespace

std::string id_remark(const Files& files) {
    if (files.exists(system_folder)) return {};
    return "/sys is hidden: the machine id may differ from the one with /sys, because the model of "
           "the machine is unknown";
}

std::vector<record::Serial> read_serials(const Files& files) {
    std::vector<record::Serial> serials;
    add(serials, "product", "", dmi_field(files, "product_serial"));
    add(serials, "board", "", dmi_field(files, "board_serial"));
    add_network(files, serials);
    const fs::path disks = "/sys/class/nvme";
    for (const std::string& name : files.names(disks))
        add(serials, "storage", name, files.line(disks / name / "serial"));
    return serials;
}

void identify(const Files& files, std::string_view cloud_instance,
              const std::vector<record::Serial>& serials, record::Machine& machine) {
    struct Way {
        const char* name;
        std::string secret;
        std::string id;
    };
    std::vector<Way> ways;
    if (!cloud_instance.empty())
        ways.push_back({.name = "cloud_instance",
                        .secret = std::string{cloud_instance},
                        .id = id_by(cloud_instance, "cloud_instance", machine)});
    if (auto uuid = product_uuid(files); !uuid.empty()) {
        auto id = id_by(uuid, "product_uuid", machine);
        ways.push_back({.name = "product_uuid", .secret = std::move(uuid), .id = std::move(id)});
    }
    const Way last{.name = machine_id(files).empty() ? "hardware" : "machine_id",
                   .secret = machine_id(files),
                   .id = id_by_system(files, machine)};
    // Hardware is alike in many machines, and images are copied with their machine-id: a name that somebody gave, or a
    // whole device, tells such machines apart.
    auto weak = machine;
    weak.id = last.id;
    weak.identity = {.by = last.name};
    auto by_devices = record::own_id(weak);
    weak.identity.node = machine.identity.node;
    if (!weak.identity.node.empty())
        ways.push_back({.name = "node", .secret = last.secret, .id = record::own_id(weak)});
    if (by_devices != last.id)
        ways.push_back({.name = "devices", .secret = last.secret, .id = std::move(by_devices)});
    ways.push_back(last);

    machine.id = ways.front().id;
    machine.identity.by = ways.front().name;
    for (std::size_t i = 1; i < ways.size(); ++i) machine.identity.aliases.push_back(ways[i].id);
    // Serial numbers and addresses can be guessed: without a secret their hashes would tell them.
    if (ways.front().secret.empty()) return;
    for (const auto& [kind, where, text, keyed] : serials) {
        if (is_placeholder(text) || (kind != "board" && kind != "device" && kind != "network"))
            continue;
        const auto hash = hmac_sha256(ways.front().secret,
                                      fmt::format("{}\npart\n{}\n{}", application, kind, text));
        machine.identity.parts.push_back(
            {.kind = kind, .where = where, .id = to_hex(hash).substr(0, 8)});
    }
}

Result<std::string> read_id_key(const std::filesystem::path& file) {
    constexpr std::size_t most = 4096;
    constexpr std::size_t least = 16; // bytes: of a shorter one all can be tried
    constexpr const char* advice = "openssl rand -hex 32 makes one";
    auto text = read_whole(file, most);
    if (!text) return fail(fmt::format("{}; {}", text.error().message, advice));
    std::string key{trim(*text)}; // editors add a line end
    if (key.size() < least)
        return fail(fmt::format("{}: a key of {} bytes, expected {} at least; {}", file.string(),
                                key.size(), least, advice));
    std::error_code error;
    const auto mode = fs::status(file, error).permissions();
    if (error || (mode & fs::perms::others_read) != fs::perms::none)
        return fail(fmt::format("{}: everybody may read this key: chmod 600 {}", file.string(),
                                file.string()));
    return key;
}

void record_serials(std::vector<record::Serial> serials, const SerialOptions& options,
                    record::Machine& machine) {
    if (!options.in_clear && options.key.empty()) return;
    for (auto& serial : serials) {
        if (!options.key.empty())
            serial.keyed =
                to_hex(hmac_sha256(options.key, fmt::format("{}\n{}", serial.kind, serial.text)));
        if (!options.in_clear) serial.text.clear();
    }
    machine.identity.serials = std::move(serials);
}

} // namespace assay::machine
