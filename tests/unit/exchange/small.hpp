// SPDX-License-Identifier: Apache-2.0
//
// The smallest run that has a verdict, its limits, and a bundle of them.

#pragma once

#include "base/file.hpp"
#include "exchange/bundle.hpp"
#include "exchange/bundle_files.hpp"
#include "json/json.hpp"
#include "record/convert.hpp"
#include "support/sample_run.hpp"
#include "support/small_case.hpp"
#include "support/temporary_folder.hpp"

#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace assay::report::evidence_test {

namespace fs = std::filesystem;

/// One GEMM in three replicas of eight batches, on a machine with a name, a serial number and a tag.
inline record::Run small_run(const std::string& id = "20260131T123456Z-4f2a") {
    auto run = test::sample_run();
    run.id = id;
    run.status = "done";
    run.note = "of node-17 after delivery";
    run.machine.hostname = "node-17";
    run.machine.identity.by = "machine_id";
    run.machine.identity.serials = {
        {.kind = "board", .where = "", .text = "SN-4711-0815", .keyed = ""}};
    run.cases.clear();
    run.cases.push_back(test::small_case());
    return run;
}

/// The small run as a soak whose three visits are in the file.
inline record::Run small_soak() {
    auto run = small_run();
    auto& c = run.cases.front();
    record::SoakPhase phase{.of = record::identity(c), .digest = "0123456789abcdef"};
    for (auto& replica : c.replicas) {
        replica.soak = record::SoakVisit{.begun_seconds = 2.5 * replica.index,
                                         .seconds = 2.5,
                                         .calls = 80,
                                         .compared = 72,
                                         .checked = 8,
                                         .digest = phase.digest};
        phase.visits += 1;
        phase.calls += 80;
        phase.compared += 72;
        phase.checked += 8;
        phase.points.push_back(
            {.begun_seconds = replica.soak->begun_seconds, .seconds = replica.seconds});
    }
    run.soak = record::Soak{.asked_seconds = 7.5, .seconds = 7.5, .phases = {std::move(phase)}};
    return run;
}

inline const char* const small_limits =
    R"({"schema":"assay.limits/1","name":"small","date":"2026-01-01","author":"tests","limits":[)"
    R"({"id":"gemm","title":"GEMM","kind":"contract","case":{"benchmark":"gemm.square"},)"
    R"("unit":"FLOP/s","at_least":2e11,"source":"the contract"}]})";

struct Small {
    harness::made::TemporaryFolder folder;
    std::vector<std::string> inputs;
    BundleOptions options{.serials = true, .created = "2026-02-01T00:00:00Z"};

    explicit Small(const record::Run& run = small_run()) {
        fs::create_directories(folder.path() / "runs/one/logs");
        inputs = {(folder.path() / "runs").string()};
        folder.write("runs/one/run.json", record::to_text(run));
        folder.write("runs/one/logs/host.log", "all is well\n");
        options.limits = {folder.write("small.json", small_limits).string()};
    }
    fs::path bundle() const { return folder.path() / "bundle"; }
    Result<MadeBundle> make() const { return make_bundle(inputs, bundle(), options); }
};

inline std::set<std::string> paths_in(const fs::path& bundle) {
    return files_of_bundle(bundle).value().regular;
}

inline std::string content(const fs::path& path) {
    return read_whole(path, std::size_t{1} << 24U).value();
}

} // namespace assay::report::evidence_test
