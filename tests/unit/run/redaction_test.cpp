// SPDX-License-Identifier: Apache-2.0
//
// What of a record could name a host, a user or a folder, and what only looks as if.

#include "record/convert.hpp"
#include "run/redaction.hpp"
#include "support/sample_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace {

using namespace assay;
using namespace assay::harness;
using testing::HasSubstr;
using testing::Not;

const Redaction redaction{{.hosts = {"gpu-17.example.org", "gpu-17"},
                           .users = {"miriam"},
                           .paths = {"/home/miriam", "/root", "/data/My Runs"},
                           .kept_variables = {"LD_PRELOAD"}}};

TEST(Redaction, LeavesWhatIsNoSecret) {
    for (const std::string text : {"Ring",
                                   "rc,sm,cuda_copy",
                                   "mlx5_0:1",
                                   "^openib",
                                   "505 GFLOP/s",
                                   "12 B/s, 3.1 1/s, 2 k/s",
                                   "read/write and I/O",
                                   "a / b",
                                   "//",
                                   "/",
                                   "/ok",
                                   "1/2/3",
                                   "n/a",
                                   "fp16/fp32",
                                   "../x/y",
                                   "needs /dev/infiniband/uverbs0",
                                   "/proc/sys/kernel/perf_event_paranoid is 3",
                                   "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2",
                                   "{0},{1},{2}",
                                   "0000:65:00.0",
                                   "gpu-171 and xgpu-17 and miriams",
                                   "GPU-5d1f0a7e-0000",
                                   "signal 11 (SIGSEGV)",
                                   "https: no",
                                   "memory.stream[host] kernel=triad",
                                   ""})
        EXPECT_EQ(redaction(text), text);
}

TEST(Redaction, ReplacesPathsWholly) {
    for (const std::string path :
         {"/opt/acme/libtrick.so", "/home/miriam", "/home/miriam/x/y.so", "/root/.cache",
          "/scratch/project-7/run.json", "/srv/jürgen/daten"}) {
        EXPECT_THAT(redaction(path), testing::ContainsRegex("^<path:......>$")) << path;
        EXPECT_EQ(redaction("a " + path + ": gone"), "a " + redaction(path) + ": gone");
        EXPECT_EQ(redaction("(" + path + ")."), "(" + redaction(path) + ").");
        EXPECT_EQ(redaction("X=" + path + ":" + path),
                  "X=" + redaction(path) + ":" + redaction(path));
        EXPECT_EQ(redaction("-I" + path), "-I" + redaction(path));
    }
    EXPECT_NE(redaction("/opt/a/x"), redaction("/opt/a/y"));
    EXPECT_THAT(redaction("file:///data/My Runs/1/run.json"), Not(HasSubstr("Runs")));
    EXPECT_THAT(redaction("/usr/lib/of/miriam/x.so"), Not(HasSubstr("miriam")));
}

TEST(Redaction, ReplacesNamesOfHostsAndUsers) {
    const auto host = redaction("gpu-17");
    EXPECT_THAT(host, testing::ContainsRegex("^<host:....>$"));
    EXPECT_EQ(redaction("[gpu-17:4711] error"), "[" + host + ":4711] error");
    EXPECT_EQ(redaction("ssh miriam@gpu-17-ib0"), "ssh <user>@" + host + "-ib0");
    EXPECT_THAT(redaction("gpu-17.example.org"), testing::ContainsRegex("^<host:....>$"));
    EXPECT_NE(redaction("gpu-17.example.org"), host);
    const Redaction two{{.hosts = {"gpu-17", "gpu-18"}}};
    EXPECT_NE(two("gpu-17"), two("gpu-18")) << "as unlike as they were";
}

TEST(Redaction, DoesItOnce) {
    const std::string text = "gpu-17: miriam: /opt/acme/x.so: error";
    EXPECT_EQ(redaction(redaction(text)), redaction(text));
}

TEST(Redaction, ReachesEveryTextOfACaseButWhatIdentifiesIt) {
    const std::string secret = "gpu-17 of miriam in /opt/acme/x";
    auto c = test::sample_run().cases.at(0);
    c.parameters.push_back({"message", std::string{"/opt/acme/x"}});
    const auto identity = record::identity(c);
    c.reason = secret;
    c.reason_values = {{"last_line", secret}};
    c.warnings = {secret};
    c.settings = {{"environment.UCX_TLS", std::string{"rc,sm"}},
                  {"environment.UCX_LOG_FILE", secret},
                  {"environment.LD_PRELOAD", std::string{"/opt/acme/x.so"}},
                  {"threads", std::int64_t{2}}};
    c.verification->detail = secret;
    c.ceiling.source = secret;
    c.evidence.network_rate_source = secret;
    record::disturb(c.telemetry, record::DisturbanceCode::driver_silent, {{"problem", secret}},
                    secret);
    record::disturb(c.telemetry, record::DisturbanceCode::foreign_cpu,
                    {{"share", 0.2}, {"programs", std::string{"cc1plus, miriam"}}},
                    "Other programs (cc1plus, miriam) used 20%.");
    c.replicas[0].reason = secret;
    c.replicas[0].reason_values = {{"message", secret}};
    c.replicas[0].telemetry = c.telemetry;
    redaction.apply(c);
    EXPECT_EQ(record::identity(c), identity);
    c.parameters.clear();
    const auto text = json::to_line(record::to_json(c));
    EXPECT_THAT(text, Not(HasSubstr("miriam")));
    EXPECT_THAT(text, Not(HasSubstr("gpu-17")));
    EXPECT_THAT(text, HasSubstr(R"("environment.UCX_TLS":"rc,sm")"));
    EXPECT_THAT(text, HasSubstr(R"("environment.LD_PRELOAD":"/opt/acme/x.so")")); // was asked for
    c.settings.clear();
    EXPECT_THAT(json::to_line(record::to_json(c)), Not(HasSubstr("acme")));
}

} // namespace
