// SPDX-License-Identifier: Apache-2.0
//
// What the collectives promise, tried on every rank of a job: mpirun -n N collective_job MODULE N [devices].
// The contract tests cannot, because they are one process.
#include "job_trial.hpp"
#include "machine/inventory.hpp"

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

namespace {

class Trial : public assay::peers::JobTrial {
public:
    using JobTrial::JobTrial;

    /// The number of promises that were broken. `sends_only`: this rank has no result to overwrite.
    /// `many` calls in a row are tried where the sums grow.
    int run(bool sends_only, bool has_rate = true, std::uint64_t many = 1000) {
        fresh();
        expect(true, "one call");
        subject().loaded().spoil();
        expect(false, "one element off by one");
        fresh();
        expect(true, "after a spoiled result");
        subject().loaded().rewind();
        if (many > 0) {
            subject().sample(119); // the last call of a row of 120 that fp32 on two ranks survives
            subject().sample(1);
            expect(true, "120 calls in a row");
            subject().sample(many);
            expect(true, std::to_string(120 + many) + " calls in a row");
        }
        subject().loaded().poison();
        expect(sends_only, "poisoned");
        fresh();
        expect(true, "after a poisoned result");
        if ((has_rate && subject().work("bus_bytes") <= 0) || subject().setting("machines") != "1")
            fail("work or settings are missing");
        return failures();
    }

private:
    void fresh() {
        subject().loaded().rewind();
        subject().sample(1);
    }
};

/// On devices the rank that broadcasts has a buffer for what it gets, too.
int run(const std::string& module, std::int64_t ranks, bool on_devices) {
    const std::int64_t large = on_devices ? 64 << 10U : 1 << 20U; // of the CPU, which are slower
    int failures = 0;
    for (const std::int64_t bytes : {std::int64_t{8}, std::int64_t{4096}, large})
        for (const std::string type : {"fp32", "fp64"}) {
            for (const bool in_place : {false, true})
                failures += Trial{module,
                                  "collective.allreduce",
                                  {{"ranks", ranks},
                                   {"bytes", bytes},
                                   {"type", type},
                                   {"in_place", in_place}}}
                                .run(false);
            failures += Trial{module,
                              "collective.reduce_scatter",
                              {{"ranks", ranks}, {"bytes", bytes}, {"type", type}}}
                            .run(false);
        }
    // 12,346 bytes end within a number, and cannot be cut evenly.
    for (const std::int64_t bytes : {std::int64_t{8}, std::int64_t{12346}, large}) {
        for (const std::string name : {"allgather", "alltoall", "send_receive"})
            failures +=
                Trial{module, "collective." + name, {{"ranks", ranks}, {"bytes", bytes}}}.run(
                    false);
        Trial broadcast{module, "collective.broadcast", {{"ranks", ranks}, {"bytes", bytes}}};
        failures += broadcast.run(!on_devices && broadcast.rank() == 0);
    }
    if (on_devices)
        failures += Trial{module,
                          "collective.overlap",
                          {{"ranks", ranks}, {"bytes", 64 << 10U}, {"size", 128}}}
                        .run(false, false, 0);
    else
        for (const std::string progress : {"none", "test"})
            failures += Trial{module,
                              "collective.overlap",
                              {{"ranks", ranks}, {"bytes", 64 << 10U}, {"progress", progress}}}
                            .run(false, false);
    assay::peers::leave_team(module);
    return failures == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3 && argc != 4) {
        std::cerr << "usage: mpirun -n RANKS collective_job MODULE RANKS [devices]\n";
        return 2;
    }
    const std::int64_t ranks = std::strtol(argv[2], nullptr, 10);
    constexpr int skip = 77; // as CMakeLists.txt tells ctest
    if (assay::machine::inspect().usable_cores < ranks) return skip;
    try {
        return run(argv[1], ranks, argc == 4);
    } catch (const std::exception& e) {
        std::cerr << e.what() << '\n';
        std::_Exit(1); // mpirun ends the ranks that wait for this one
    }
}
