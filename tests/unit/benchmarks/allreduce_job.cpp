// SPDX-License-Identifier: Apache-2.0
//
// What collective.allreduce promises, tried on every rank of a job: mpirun -n N allreduce_job MODULE.
// The contract tests cannot, because they are one process.
#include "machine/inventory.hpp"
#include "peers/subject.hpp"

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <string>

namespace {

using assay::peers::Subject;

class Trial {
public:
    Trial(const std::string& module, std::int64_t ranks, std::int64_t bytes,
          const std::string& type, bool in_place)
        : subject_{module,
                   "collective.allreduce",
                   {{"ranks", ranks}, {"bytes", bytes}, {"type", type}, {"in_place", in_place}},
                   true},
          name_{std::to_string(bytes) + " B of " + type + (in_place ? ", in place" : "")} {}

    /// The number of promises that were broken.
    int run() {
        fresh();
        expect(true, "one call");
        subject_.loaded().spoil();
        expect(false, "one element off by one");
        fresh();
        expect(true, "after a spoiled result");
        subject_.loaded().rewind();
        subject_.sample(119); // the last call of a row of 120 that fp32 on two ranks survives
        subject_.sample(1);
        expect(true, "120 calls in a row");
        subject_.sample(1000);
        expect(true, "1120 calls in a row");
        subject_.loaded().poison();
        expect(false, "poisoned");
        fresh();
        expect(true, "after a poisoned result");
        if (subject_.work("bus_bytes") <= 0 || subject_.setting("machines") != "1")
            fail("work or settings are missing");
        return failures_;
    }

private:
    void fresh() {
        subject_.loaded().rewind();
        subject_.sample(1);
    }
    void expect(bool right, const std::string& when) {
        const auto check = subject_.loaded().verify();
        if (!check)
            fail(when + ": " + check.error().message);
        else if (check->passed != right)
            fail(when + (right ? ": refused, " + check->detail : ": not noticed"));
    }
    void fail(const std::string& what) {
        std::cerr << name_ << ", rank " << subject_.team()->rank << ": " << what << '\n';
        ++failures_;
    }

    Subject subject_;
    std::string name_;
    int failures_ = 0;
};

int run(const std::string& module, std::int64_t ranks) {
    int failures = 0;
    for (const std::int64_t bytes : {8, 4096, 1 << 20})
        for (const std::string type : {"fp32", "fp64"})
            for (const bool in_place : {false, true})
                failures += Trial{module, ranks, bytes, type, in_place}.run();
    assay::peers::leave_team(module);
    return failures == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::cerr << "usage: mpirun -n RANKS allreduce_job MODULE RANKS\n";
        return 2;
    }
    const std::int64_t ranks = std::strtol(argv[2], nullptr, 10);
    constexpr int skip = 77; // as CMakeLists.txt tells ctest
    if (assay::machine::inspect().usable_cores < ranks) return skip;
    try {
        return run(argv[1], ranks);
    } catch (const std::exception& e) {
        std::cerr << e.what() << '\n';
        std::_Exit(1); // mpirun ends the ranks that wait for this one
    }
}
