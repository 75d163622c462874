// SPDX-License-Identifier: Apache-2.0
//
// Situations: results of real machines and edited copies of them. A copy is summarised and digested again, so that it
// is what `assay run` would have written. Edits change replicas, telemetry and machines, never verdicts.

#pragma once

#include "record/model.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace assay::decisions {

/// A file of tests/decisions/real: "h200-acceptance".
std::filesystem::path real(std::string_view name);
record::Run read(const std::filesystem::path& path);
/// Below the folder, in one of its own; returns the file.
std::filesystem::path write(const std::filesystem::path& folder, const std::string& name,
                            const record::Run& run);
/// The same on one line: of many files, half the time.
std::filesystem::path write_small(const std::filesystem::path& folder, const std::string& name,
                                  const record::Run& run);

using Wanted = std::function<bool(const record::Case&)>;
/// "memory.stream", "gemm.square precision=bf16": cases of a benchmark with these parameters, on devices.
Wanted on_devices(const std::string& words);
Wanted on_host(const std::string& words);
/// Measured, or interrupted with replicas that were.
std::size_t measured_replicas(const record::Case& c);

using Chosen = std::function<bool(const record::Replica&)>; ///< true: edited
Chosen every_replica();
Chosen half_of_replicas();

/// These take `factor` times as long, or as much less of what they report themselves.
void slow_down(record::Run& run, const Wanted& wanted, double factor,
               const Chosen& chosen = every_replica());
/// Their telemetry says so.
void mark(record::Run& run, const Wanted& wanted, record::DisturbanceCode code,
          const Chosen& chosen = every_replica());
/// The run is stopped when each case has so many replicas.
void interrupt(record::Run& run, std::size_t replicas);
void drop_device(record::Run& run, int index);
/// The same measured again, so many hours later, with values a millionth apart.
record::Run later(record::Run run, double hours);
/// Another machine with other devices, by all that identifies it.
void rename_machine(record::Run& run, const std::string& name);
/// Summarises a case from its replicas.
void conclude(record::Case& c);

} // namespace assay::decisions
