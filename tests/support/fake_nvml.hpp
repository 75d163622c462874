// SPDX-License-Identifier: Apache-2.0
//
// Devices for a machine that has none: see fake_nvml.cpp for what the lines mean.
//
//     const test::FakeNvml nvml{test::h200s(8) + "3 code.power 15\n"};
//     Nvml::open(nvml.library())

#pragma once

#include "support/temporary_folder.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

namespace assay::test {

/// The lines of a machine with that many H200, as its driver might describe them.
inline std::string h200s(int count) {
    std::string lines = "- driver 580.65.06\n- cuda 13000\n- confidential 0\n- count " +
                        std::to_string(count) +
                        "\n"
                        "* name NVIDIA H200\n* capability 9.0\n* cores 16896\n"
                        "* memory 150754820096\n* bus_bits 6144\n* clock_max 1980\n"
                        "* memory_clock_max 3201\n* power_limit 700000\n* power_default 700000\n"
                        "* ecc 1\n* virtualization 0\n* persistence 1\n"
                        "* clock 1755\n* memory_clock 3201\n* temperature 61\n* field.82 72\n"
                        "* field.186 640000\n* power 650000\n* reasons 4\n"
                        "* energy 1000000,3500000\n* ecc_corrected 0\n* ecc_uncorrected 0\n"
                        "* remapped 0\n* generation 5\n* generation_max 5\n* width 16\n"
                        "* width_max 16\n* nvlinks 18\n* replays 7\n* processes \n"
                        "* field.74 1000000000,2500000000\n* field.251 0\n* field.252 0\n"
                        "* field.253 0\n* field.138.all 1000,3000\n* field.139.all 500,700\n";
    for (int i = 0; i < count; ++i) {
        const std::string id = std::to_string(i);
        lines += id + " uuid GPU-" + id + "\n" + id + " bus " + std::to_string(16 + i) + "\n" + id +
                 " address 0000:" + "1" + id + ":00.0\n";
    }
    return lines;
}

class FakeNvml {
public:
    explicit FakeNvml(const std::string& lines, bool old = false)
        : library_{old ? ASSAY_FAKE_NVML_OLD : ASSAY_FAKE_NVML_NEW},
          file_{folder_.write("nvml", lines)} {
        ::setenv("ASSAY_FAKE_NVML", file_.c_str(), 1); // NOLINT(concurrency-mt-unsafe)
    }
    const std::filesystem::path& library() const { return library_; }
    const std::filesystem::path& file() const { return file_; }

private:
    std::filesystem::path library_;
    made::TemporaryFolder folder_;
    std::filesystem::path file_;
};

} // namespace assay::test
