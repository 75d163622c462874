// SPDX-License-Identifier: Apache-2.0
//
// What the pairs of network/ promise, tried on both ranks of a job: mpirun -n 2 network_job MODULE [devices |
// TRANSPORT]. The contract tests cannot, because they are one process. UCX is held to TCP by UCX_TLS; libfabric may
// take any.
#include "job_trial.hpp"
#include "machine/inventory.hpp"

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <string>
#include <utility>

namespace {

using assay::record::NamedList;

int failures = 0;

class Trial : public assay::peers::JobTrial {
public:
    Trial(const std::string& module, const std::string& id, const NamedList& values)
        : JobTrial{module, id, values}, transport_{assay::record::text(values, "transport")} {}
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;
    ~Trial() { ::failures += failures(); }

    /// `holds`: this rank holds something that arrived.
    void run(bool holds) {
        sample(1);
        expect(true, "one call");
        together();
        subject().loaded().poison();
        expect(!holds, "poisoned");
        sample(3);
        expect(true, "three calls");
        together();
        subject().loaded().spoil();
        expect(!holds, "one bit changed");
        sample(1);
        expect(true, "after a changed bit");
        if (subject().setting("path") != transport_)
            fail("the path is said to be " + subject().setting("path"));
        const std::map<std::string, std::string> library_says{{"tcp", "tcp tcp;ofi_rxm"},
                                                              {"shared_memory", "shm"}};
        const auto opened = subject().setting("transports");
        if (opened.empty() || library_says.at(transport_).find(opened) == std::string::npos)
            fail("the transports are said to be " + opened);
        if (subject().work("bytes") <= 0) fail("it does no work");
    }
    /// Asked for something else than UCX was told.
    void run_wrongly() {
        sample(1);
        expect(false, "through another transport");
    }

private:
    /// Waits like the engine: nobody touches memory that a partner may still write to.
    void together() { subject().team()->barrier(subject().team()->context); }
    void sample(std::uint64_t calls) {
        together();
        subject().sample(calls);
    }

    std::string transport_;
};

void try_all(const std::string& module, const std::string& transport, bool on_devices) {
    // 12,346 bytes end within a word.
    for (const std::int64_t bytes : {8, 12346}) {
        for (const std::string direction : {"one_way", "two_way"}) {
            const NamedList values{
                {"bytes", bytes}, {"direction", direction}, {"transport", transport}};
            const bool two_way = direction == "two_way";
            Trial put{module, "network.put", values};
            put.run(two_way || put.rank() == 1);
            Trial get{module, "network.get", values};
            get.run(two_way || get.rank() == 0);
        }
        for (const std::string operation : {"tag", "put"})
            if (operation == "tag" || !on_devices) // hosts alone see what is put into their memory
                Trial{module,
                      "network.ping_pong",
                      {{"bytes", bytes}, {"operation", operation}, {"transport", transport}}}
                    .run(true);
    }
    for (const std::string direction : {"one_way", "two_way"}) {
        Trial rate{
            module,
            "network.message_rate",
            {{"bytes", std::int64_t{64}}, {"direction", direction}, {"transport", transport}}};
        rate.run(direction == "two_way" || rate.rank() == 1);
    }
}

void try_wrongly(const std::string& module) {
    const std::string shared = "shared_memory";
    Trial{module, "network.put", {{"transport", shared}}}.run_wrongly();
    Trial{module, "network.ping_pong", {{"transport", shared}}}.run_wrongly();
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2 && argc != 3) {
        std::cerr << "usage: UCX_TLS=tcp mpirun -n 2 network_job MODULE [devices | TRANSPORT]\n";
        return 2;
    }
    constexpr int skip = 77; // as CMakeLists.txt tells ctest
    if (assay::machine::inspect().usable_cores < 2) return skip;
    try {
        const std::string what = argc == 3 ? argv[2] : "";
        const bool any = !what.empty() && what != "devices";
        try_all(argv[1], any ? what : "tcp", what == "devices");
        if (!any) try_wrongly(argv[1]);
        assay::peers::leave_team(argv[1]);
        return failures == 0 ? 0 : 1;
    } catch (const std::exception& e) {
        std::cerr << e.what() << '\n';
        std::_Exit(1); // mpirun ends the rank that waits for this one
    }
}
