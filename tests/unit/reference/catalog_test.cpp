// SPDX-License-Identifier: Apache-2.0
//
// Entries by what people call them, and files that are laid over others.

#include "base/file.hpp"
#include "reference/catalog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::datasheet {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const Hardware& shipped() {
    static const auto hardware = read_hardware().value();
    return hardware;
}
std::string id_of(std::string_view text, std::optional<Kind> kind = {}) {
    const auto found = entry_named(shipped(), text, kind);
    return found ? found->sheet->id : "";
}
std::string why_not(std::string_view text) { return entry_named(shipped(), text).error().message; }

TEST(Catalog, FindsEntriesByWhatPeopleCallThem) {
    for (const char* name : {"aws/p5.48xlarge", "p5.48xlarge", "P5.48XLARGE", "AWS p5.48xlarge",
                             "amazon web services p5.48xlarge", "Amazon p5.48xlarge"})
        EXPECT_EQ(id_of(name), "aws/p5.48xlarge") << name;
    EXPECT_EQ(id_of("nvidia-l40s"), "nvidia-l40s");
    EXPECT_EQ(id_of("L40S"), "nvidia-l40s");
    EXPECT_EQ(id_of("nvidia h100 80gb hbm3"), "nvidia-h100-sxm5-80gb"); // as its driver has it
    EXPECT_EQ(id_of("h100 sxm5"), "nvidia-h100-sxm5-80gb");
    EXPECT_EQ(id_of("A10"), "nvidia-a10"); // not the A10G
    EXPECT_EQ(id_of("EPYC 9R14"), "amd-epyc-9r14");
    EXPECT_EQ(id_of("mi300x"), "amd-mi300x"); // types of instances have it in their names too
    EXPECT_EQ(id_of("L40S", Kind::processor), "");
}

TEST(Catalog, WhatIsAmbiguousOrUnknownIsSaid) {
    EXPECT_EQ(why_not("H100"),
              "\"H100\" may be any of 3: nvidia-h100-sxm5-80gb, nvidia-h100-pcie-80gb, "
              "nvidia-h100-nvl-94gb; give one of these");
    EXPECT_THAT(why_not("p5.48xlarg"), HasSubstr("did you mean \"p5.48xlarge\"?"));
    EXPECT_THAT(why_not(""), HasSubstr("has no \"\""));
    EXPECT_THAT(why_not("\x1b[31m"), HasSubstr("has no \"\\u001b[31m\""));
}

TEST(Catalog, ProvidersGoByManyNames) {
    for (const char* name : {"aws", "AWS", "Amazon", "amazon web services", "Amazon-EC2"})
        EXPECT_EQ(provider_id(shipped(), name), "aws") << name;
    EXPECT_EQ(provider_id(shipped(), "阿里云"), "alibaba");
    EXPECT_EQ(provider_id(shipped(), "Our Own"), "ourown");
    ASSERT_NE(find_instance(shipped(), "Microsoft", "standard_nd96isr_h100_v5"), nullptr);
    EXPECT_EQ(find_instance(shipped(), "gcp", "p5.48xlarge"), nullptr);
}

TEST(Catalog, EveryInstanceSaysWhereItsFiguresComeFrom) {
    EXPECT_GT(shipped().instances.size(), 250U);
    std::vector<std::string> without;
    for (const auto& entry : shipped().instances)
        for (const auto& [path, figure] : entry.sheet.figures)
            if (figure.origin.source.empty()) without.push_back(entry.sheet.id + ' ' + path);
    EXPECT_THAT(without, IsEmpty());
}

Result<Hardware> read(const std::vector<std::string>& texts) {
    std::vector<HardwareText> files;
    for (const auto& text : texts)
        files.push_back(
            {.text = R"({"schema":"assay.hardware/1","sources":{"s":"a book","t":"a page"},)" +
                     text + "}",
             .source = "file" + std::to_string(files.size()),
             .is_laid_over = !files.empty()});
    return parse_hardware(files, *json::read_file(layout().share / "schema" / "hardware.json"));
}

TEST(Catalog, AFileLaidOverOthersReplacesFiguresAndSaysSo) {
    const auto found = read(
        {R"("checked":"2026-01-31","instances":[{"provider":"p","type":"t","vcpus":8,"memory_gib":32,"figures":[{"of":["*"],"source":"s","sure":"retrieved"}]}])",
         R"("instances":[{"provider":"p","type":"t","vcpus":16,"cores":8,"figures":[{"of":["vcpus","cores"],"source":"t","sure":"hardware_readout","checked":"2026-02-01"}]},
             {"provider":"p","type":"u","vcpus":1}])"});
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_EQ(found->instances.size(), 2U);
    const auto& entry = found->instances.front();
    EXPECT_EQ(entry.vcpus, 16);
    EXPECT_EQ(entry.memory_gib, 32);
    const auto& memory = entry.sheet.figures.at("memory_gib");
    EXPECT_EQ(memory.origin.file, "file0");
    EXPECT_EQ(memory.origin.checked, "2026-01-31");
    const auto& vcpus = entry.sheet.figures.at("vcpus");
    EXPECT_EQ(vcpus.origin.file, "file1");
    EXPECT_EQ(vcpus.origin.source, "a page");
    EXPECT_EQ(vcpus.origin.checked, "2026-02-01");
    ASSERT_EQ(entry.sheet.replaced.size(), 1U);
    EXPECT_EQ(entry.sheet.replaced.front().of, "vcpus");
    EXPECT_EQ(entry.sheet.replaced.front().value, 8);
    EXPECT_EQ(entry.sheet.replaced.front().origin.file, "file0");
}

TEST(Catalog, AnAcceleratorIsReplacedFieldByField) {
    const auto found = read(
        {R"("accelerators":[{"id":"x","name":"X","names":["X"],"architecture":"a","form_factor":"f","power":300,"peaks":{"tensor":{"bf16":1e14,"fp8":2e14}},"figures":[]}])",
         R"("accelerators":[{"id":"x","power":350,"peaks":{"tensor":{"bf16":9e13},"sparse":{"bf16":2e14}}}])"});
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_EQ(found->entries.size(), 1U);
    const auto& entry = found->entries.front();
    EXPECT_EQ(entry.name, "X");
    EXPECT_EQ(entry.power, 350);
    EXPECT_EQ(entry.peaks.tensor.at("bf16"), 9e13);
    EXPECT_EQ(entry.peaks.tensor.at("fp8"), 2e14);
    EXPECT_EQ(entry.sparse.at("bf16"), 2e14);
    EXPECT_EQ(entry.sheet.replaced.size(), 2U);
    // What is new must be whole.
    EXPECT_THAT(
        read({R"("providers":[])", R"("accelerators":[{"id":"y","power":1}])"}).error().message,
        HasSubstr("accelerators[0]: `name` is missing"));
}

TEST(Catalog, ADayThatIsNoneIsRefused) {
    EXPECT_THAT(read({R"("checked":"yesterday ")"}).error().message, HasSubstr("checked"));
}

} // namespace
} // namespace assay::datasheet
