// SPDX-License-Identifier: Apache-2.0
//
// What a worker offers a module: facts about the machine, and functions to record settings, metrics and
// warnings. Modules may call them from any thread.

#pragma once

#include "record/model.hpp"

#include <assay/module.h>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace assay::worker {

/// The team of this process, as facts: job.ranks and job.hosts. 0: not known.
struct JobFacts {
    int ranks = 0;
    int hosts = 0;
};

class Services {
public:
    /// `warn` receives warnings for the result. `data_limit`: bytes this process may allocate, 0 for no
    /// limit; its rest bounds the fact memory.available.
    /// `state_folder`: the fact state.folder.
    Services(const record::Machine& machine, std::int64_t data_limit,
             std::function<void(const std::string&)> warn, std::string state_folder = {},
             JobFacts job = {});
    Services(const Services&) = delete;
    Services& operator=(const Services&) = delete;
    Services(Services&&) = delete;
    Services& operator=(Services&&) = delete;
    ~Services() = default;

    assay_services* table() { return &table_; }
    void set_team(const assay_team* team) { table_.team = team; }

    record::NamedList settings; ///< a name set twice keeps its last value
    record::Evidence evidence;
    record::NamedList metrics;
    std::vector<record::Table> tables;
    void clear();

private:
    static double fact(void* self, const char* name) noexcept;
    static const char* fact_text(void* self, const char* name) noexcept;
    static void setting_number(void* self, const char* name, double value) noexcept;
    static void setting_text(void* self, const char* name, const char* value) noexcept;
    static void metric(void* self, const char* name, double value) noexcept;
    static void table(void* self, const assay_table* table) noexcept;
    static void tell(void* self, const assay_evidence* evidence) noexcept;
    static void log(void* self, std::int32_t level, const char* text) noexcept;
    void put(record::NamedList& list, const char* name, record::Value value);

    const record::Machine& machine_;
    std::int64_t data_limit_;
    JobFacts job_;
    std::function<void(const std::string&)> warn_;
    assay_services table_{};
    std::mutex mutex_;
    std::map<std::string, std::string, std::less<>>
        texts_; ///< handed out by address; must not move
};

/// Bytes this process has allocated privately, as RLIMIT_DATA counts them.
std::int64_t data_in_use();
/// Bytes of this process that are in memory; 0: not known.
std::int64_t resident_in_use();

} // namespace assay::worker
