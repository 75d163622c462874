// SPDX-License-Identifier: Apache-2.0
//
// Rules of the catalogue of texts that a compiler cannot check: each text is used, each is translated, and
// the Chinese ones are set as a Chinese engineer would set them.

#include "document/texts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;
using assay::document::Entry;
using assay::text::all;
using testing::IsEmpty;

using Names = std::set<std::string>;

/// The first group of the pattern in every text.
Names found_in(const std::string& text, const char* pattern) {
    const std::regex expression{pattern};
    Names names;
    for (std::sregex_iterator match{text.begin(), text.end(), expression}, end; match != end;
         ++match)
        names.insert((*match)[1].str());
    return names;
}

std::string without_places(std::string_view text) {
    static const std::regex place{R"(\{[^}]*\})"};
    return std::regex_replace(std::string{text}, place, "");
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// UTF-8 that is known to be well formed.
std::u32string characters(std::string_view text) {
    std::u32string out;
    for (const char byte : text) {
        const auto bits = static_cast<unsigned char>(byte);
        if ((bits & 0xC0U) == 0x80U)
            out.back() = (out.back() << 6U) | (bits & 0x3FU);
        else
            out += static_cast<char32_t>(bits < 0x80 ? bits
                                                     : bits & (bits < 0xE0   ? 0x1FU
                                                               : bits < 0xF0 ? 0x0FU
                                                                             : 0x07U));
    }
    return out;
}

bool is_han(char32_t c) { return c >= 0x4E00 && c <= 0x9FFF; }
bool is_one_of(char32_t c, std::u32string_view list) { return list.find(c) != list.npos; }
bool is_full_width(char32_t c) { return is_one_of(c, U"，。、；：？！（）“”《》"); }

/// Words of Latin letters that a Chinese text may hold: names, units, what one types.
const Names names{"PCIe",        "PCI",    "ACS",    "BIOS",      "IOMMU",     "InfoROM", "MTU",
                  "VBIOS",       "ABBA",   "B",      "Benjamini", "CPU",       "CSV",     "ECC",
                  "FFT",         "FLOP",   "FMA",    "GEMM",      "GPU",       "HTML",    "Holm",
                  "Hochberg",    "JSON",   "Jones",  "Lennard",   "MIG",       "NUMA",    "UTC",
                  "Markdown",    "NVLink", "ResNet", "Roofline",  "STREAM",    "stencil", "p",
                  "Transformer", "UNet",   "chrony", "systemd",   "timesyncd", "Welch",   "Wilks",
                  "assay",       "logs",   "p50",    "p99",       "t",         "top",     "x"};

/// Words of benchmarks: formulas, their authors, precisions, libraries.
const Names formulas{
    "A",    "Daly",   "GB",        "ZeRO",     "KV",    "Korthikanti", "Bx",       "AMD",  "C",
    "CUDA", "Cx",     "Freivalds", "OpenBLAS", "SHARP", "RDMA",        "Parseval", "bf16", "fp32",
    "fp64", "int8",   "L2",        "AVX",      "AVX2",  "AMX",         "Neon",     "SVE",  "k",
    "n",    "oneDNN", "products",  "r",        "rms",   "sqrt",        "u"};

/// The words of a text that are neither names nor something to type: options, paths, a command up to its
/// end.
Names words_of(std::string_view text) {
    static const std::regex typed{
        R"(\d{4}-\d\d-\d\dT[\d:]+Z|assay [a-z][ -~]*|--[a-z-]+( ([a-z]+[=.])?[A-Z]+)?|/?[a-z_-]+(/[a-z_-]+)+|sysctl [ -~]*|echo [ -~]*)"};
    const auto prose = std::regex_replace(without_places(text), typed, " ");
    Names words = found_in(prose, "([A-Za-z][A-Za-z0-9]*)");
    for (const auto* known : {&names, &formulas})
        for (const auto& name : *known) words.erase(name);
    return words;
}

TEST(Texts, AreTranslated) {
    std::vector<std::string> wrong;
    for (const Entry* entry : all) {
        const auto is_chinese = [](char32_t c) { return is_han(c) || is_full_width(c); };
        if (!words_of(entry->en).empty() && std::ranges::none_of(characters(entry->zh), is_chinese))
            wrong.push_back(std::string{entry->id} + ": no Chinese: " + entry->zh);
        if (std::ranges::any_of(characters(entry->en), is_han))
            wrong.push_back(std::string{entry->id} + ": no English: " + entry->en);
    }
    EXPECT_THAT(wrong, IsEmpty());
}

TEST(Texts, SayTheSameInEveryLanguage) {
    static constexpr auto place = R"((\{[^}]*\}))";
    std::vector<std::string> wrong;
    for (const Entry* entry : all) {
        const auto places = found_in(entry->en, place);
        // One of a thing may be said without its number: "once".
        if (found_in(entry->zh, place) != places ||
            !std::ranges::includes(places, found_in(entry->one, place)))
            wrong.push_back(std::string{entry->id} + ": the languages have different places");
    }
    EXPECT_THAT(wrong, IsEmpty());
}

/// JSON knows facts by their English names, and the page says them again in its language.
TEST(Texts, FactsOfOneNameHaveOneInEveryLanguage) {
    std::map<std::string, std::string> known;
    std::vector<std::string> wrong;
    for (const Entry* entry : all)
        if (std::string_view{entry->id}.starts_with("facts."))
            if (known.try_emplace(entry->en, entry->zh).first->second != entry->zh)
                wrong.push_back(std::string{entry->id} + ": another one is " + known.at(entry->en));
    EXPECT_THAT(wrong, IsEmpty());
}

TEST(Texts, ChineseHoldsNoEnglishButNames) {
    std::vector<std::string> wrong;
    for (const Entry* entry : all)
        for (const auto& word : words_of(entry->zh))
            wrong.push_back(std::string{entry->id} + ": " + word);
    EXPECT_THAT(wrong, IsEmpty());
}

/// Full-width punctuation beside Chinese, a blank between Chinese and Latin letters or digits, and no
/// blank beside full-width punctuation.
TEST(Texts, ChineseIsSetAsChinese) {
    std::vector<std::string> wrong;
    for (const Entry* entry : all) {
        const auto text = characters(entry->zh);
        const auto is_latin = [](char32_t c) {
            return c < 0x80 && (is_letter(static_cast<char>(c)) || (c >= '0' && c <= '9'));
        };
        for (std::size_t i = 0; i + 1 < text.size(); ++i) {
            const char32_t a = text[i];
            const char32_t b = text[i + 1];
            const char* fault = nullptr;
            if (is_han(a) && is_one_of(b, U",.;:?!()")) fault = "half-width punctuation";
            if (is_one_of(a, U",;:?!()") && is_han(b)) fault = "half-width punctuation";
            if ((is_han(a) && is_latin(b)) || (is_latin(a) && is_han(b))) fault = "no blank";
            if ((is_full_width(a) && b == ' ') || (a == ' ' && is_full_width(b)))
                fault = "blank beside full-width punctuation";
            if (is_han(a) && b == ' ' && i + 2 < text.size() && is_han(text[i + 2]))
                fault = "blank between Chinese characters";
            if (fault != nullptr)
                wrong.push_back(std::string{entry->id} + ": " + fault + ": " + entry->zh);
        }
    }
    EXPECT_THAT(wrong, IsEmpty());
}

TEST(Texts, AreUsed) {
    // Areas whose keys are names in result files; say<> and the page's script name the others in full.
    Names used;
    Names by_name{"said"}; // looked up by their English
    for (const auto& file :
         fs::recursive_directory_iterator{fs::path{ASSAY_SOURCE_DIR} / "reports"}) {
        const auto ending = file.path().extension();
        const bool script = ending == ".ts";
        if (!script && ending != ".cpp" && ending != ".hpp") continue;
        if (file.path().string().find("node_modules") != std::string::npos) continue;
        std::ifstream in{file.path()};
        const std::string text{std::istreambuf_iterator{in}, {}};
        if (!script) {
            for (const auto& name : found_in(text, R"(text::(\w+::\w+))"))
                used.insert(name.substr(0, name.find(':')) + "." +
                            name.substr(name.rfind(':') + 1));
            by_name.merge(found_in(text, R"re(find_text\("(\w+)")re"));
        } else {
            used.merge(found_in(text, R"re(["'`](\w+\.\w+)["'`])re"));
            for (const auto& key : found_in(text, R"re(["'`](\w+)["'`])re"))
                used.insert("page." + key);
            by_name.merge(found_in(text, R"re(`(\w+)\.\$\{)re"));
        }
    }
    std::vector<std::string> unused;
    for (const Entry* entry : all) {
        const std::string id{entry->id};
        if (!used.contains(id) && !by_name.contains(id.substr(0, id.find('.'))))
            unused.push_back(id);
    }
    EXPECT_THAT(unused, IsEmpty()) << "nothing says these texts";
}

} // namespace
