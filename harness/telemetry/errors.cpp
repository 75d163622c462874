// SPDX-License-Identifier: Apache-2.0
#include "telemetry/errors.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "machine/devices.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace assay::telemetry {
namespace {

namespace fs = std::filesystem;

/// Errors of a port, in counters/ and hw_counters/. The other files count traffic, and what congestion control does.
constexpr std::array<std::string_view, 24> port_errors = {
    "symbol_error",
    "link_error_recovery",
    "link_downed",
    "port_rcv_errors",
    "port_rcv_remote_physical_errors",
    "port_rcv_switch_relay_errors",
    "port_rcv_constraint_errors",
    "port_xmit_constraint_errors",
    "port_xmit_discards",
    "local_link_integrity_errors",
    "excessive_buffer_overrun_errors",
    "VL15_dropped",
    "local_ack_timeout_err",
    "out_of_buffer",
    "out_of_sequence",
    "packet_seq_err",
    "implied_nak_seq_err",
    "rnr_nak_retry_err",
    "req_cqe_error",
    "resp_cqe_error",
    "req_remote_access_errors",
    "req_remote_invalid_request",
    "resp_local_length_error",
    "rx_icrc_encapsulated",
};

struct XidEvent {
    std::int64_t record = 0; ///< its number in the log
    std::string device;
    std::string counter;
};

/// "4,1234,5678,-;NVRM: Xid (PCI:0000:1b:00): 79, pid=..."
std::optional<XidEvent> xid_in(std::string_view line) {
    const auto text_begins = line.find(';');
    const auto numbers = split(line.substr(0, text_begins), ',');
    const auto record = numbers.size() > 1 ? to_number(numbers[1]) : std::nullopt;
    if (text_begins == std::string_view::npos || !record) return {};
    XidEvent event{.record = *record};
    constexpr std::string_view mark = "NVRM: Xid (PCI:";
    auto text = line.substr(text_begins + 1);
    if (!text.starts_with(mark)) return event; // another message
    text.remove_prefix(mark.size());
    const auto closing = text.find("): ");
    if (closing == std::string_view::npos || closing > 32) return event;
    const auto number =
        text.substr(closing + 3, text.find_first_of(", ", closing + 3) - closing - 3);
    if (!to_number(number)) return event;
    event.device = lower(text.substr(0, closing));
    if (std::ranges::count(event.device, '.') == 0) event.device += ".0";
    event.counter = fmt::format("xid_{}", number);
    return event;
}

} // namespace

std::vector<std::string> read_kernel_log() {
    std::vector<std::string> records;
    const Descriptor log{::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    constexpr std::size_t most = 200'000; // of the largest log that is common: 16 MiB
    std::array<char, 8192> buffer{};      // the kernel's longest record
    while (log && records.size() < most) {
        const auto got = ::read(log.get(), buffer.data(), buffer.size());
        if (got < 0 && (errno == EPIPE || errno == EINTR))
            continue; // overwritten meanwhile: the next
        if (got <= 0) break;
        const std::string_view record{buffer.data(), static_cast<std::size_t>(got)};
        records.emplace_back(record.substr(0, record.find('\n')));
    }
    return records;
}

ErrorWatch::ErrorWatch(const record::Machine& machine, ErrorSources sources)
    : sources_{std::move(sources)}, has_nvidia_{!machine.devices.empty()} {
    for (const auto& device : machine.pci)
        if (device.kind != "display") addresses_.push_back(device.address);
    before_ = read();
}

void ErrorWatch::read_log() {
    auto last = last_record_;
    for (const auto& line : sources_.kernel_log()) {
        const auto event = xid_in(line);
        if (!event || event->record <= last_record_) continue;
        last = std::max(last, event->record);
        if (!event->counter.empty()) ++logged_[{"driver", event->device, event->counter}];
    }
    last_record_ = last;
}

ErrorWatch::Counts ErrorWatch::read() {
    const auto& files = sources_.files;
    Counts counts;
    const auto add = [&](const char* source, const std::string& device, std::string_view counter,
                         const fs::path& file) {
        if (const auto value = files.number(file))
            counts[{source, device, std::string{counter}}] = *value;
    };
    const fs::path memory = "/sys/devices/system/edac/mc";
    for (const auto& name : files.names(memory))
        for (const auto* const counter : {"ce_count", "ue_count"})
            add("edac", name, counter, memory / name / counter);
    for (const auto& address : addresses_)
        for (const auto* const kind : {"correctable", "nonfatal", "fatal"}) {
            // One line for each kind of error, then "TOTAL_ERR_COR 3".
            const auto text = files.text(fs::path{"/sys/bus/pci/devices"} / address /
                                         fmt::format("aer_dev_{}", kind));
            for (const auto line : split(text, '\n'))
                if (const auto parts = words(line);
                    parts.size() == 2 && parts[0].starts_with("TOTAL_ERR_"))
                    if (const auto value = to_number(parts[1]))
                        counts[{"pcie", address, kind}] = *value;
        }
    const fs::path infiniband = "/sys/class/infiniband";
    for (const auto& device : files.names(infiniband))
        for (const auto& port : files.names(infiniband / device / "ports"))
            for (const auto* const folder : {"counters", "hw_counters"})
                for (const auto counter : port_errors)
                    add("infiniband", fmt::format("{}:{}", device, port), counter,
                        infiniband / device / "ports" / port / folder / counter);
    const fs::path interfaces = "/sys/class/net";
    for (const auto& name : files.names(interfaces)) {
        if (!files.exists(interfaces / name / "device")) continue;
        for (const auto* const counter : {"rx_errors", "tx_errors", "rx_dropped", "tx_dropped"})
            add("network", name, counter, interfaces / name / "statistics" / counter);
        for (const auto& [counter, value] : sources_.allowances(name))
            counts[{"allowance", name, counter}] = value;
    }
    if (!has_nvidia_) return counts;
    constexpr auto patience = std::chrono::seconds{10};
    const auto links = machine::answer_within(patience, [nvml = sources_.nvml] {
        std::map<std::string, std::map<std::string, std::int64_t>> errors;
        if (const auto library = machine::Nvml::open(nvml))
            for (auto& device : library->devices().whole)
                errors[device.pci_address()] = device.link_errors();
        return errors;
    });
    if (links)
        for (const auto& [device, errors] : *links)
            for (const auto& [counter, value] : errors) counts[{"nvlink", device, counter}] = value;
    read_log();
    counts.insert(logged_.begin(), logged_.end());
    return counts;
}

std::vector<record::ErrorCounter> ErrorWatch::counters() {
    const auto now = read();
    std::set<Key> keys;
    for (const auto& [key, value] : before_) keys.insert(key);
    for (const auto& [key, value] : now) keys.insert(key);
    std::vector<record::ErrorCounter> found;
    for (const auto& key : keys) {
        const auto value_in = [&](const Counts& counts) {
            const auto count = counts.find(key);
            return count == counts.end() ? std::nullopt : std::optional{count->second};
        };
        auto before = value_in(before_);
        const auto after = value_in(now);
        const auto& [source, device, counter] = key;
        if (source == "driver" && !before) before = 0; // events, not counters that appear
        if (before.value_or(0) == 0 && after.value_or(0) == 0) continue;
        found.push_back({.source = source,
                         .device = device,
                         .counter = counter,
                         .before = before,
                         .after = after});
    }
    return found;
}

} // namespace assay::telemetry
