// SPDX-License-Identifier: Apache-2.0
//
// Hostile files for every reader of both programs. Texts go to the targets of tests/fuzz, which say what a reader owes;
// pipes, devices and links go to whatever opens one. A reader that crashes or takes five minutes ends this program, which
// says with what.

#include "attack/hostile.hpp"
#include "base/file.hpp"
#include "decide/check.hpp"
#include "decide/expectations.hpp"
#include "exchange/bundle_check.hpp"
#include "fleet/model.hpp"
#include "judge/limits.hpp"
#include "plan/manifest.hpp"
#include "plan/suite.hpp"
#include "purchase/offer.hpp"
#include "purchase/profile.hpp"
#include "record/journal.hpp"
#include "reference/hardware.hpp"
#include "store/collection.hpp"
#include "store/input.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

// Targets of tests/fuzz, each under a name of its own.
// NOLINTBEGIN(readability-identifier-naming)
#define ATTACK_TARGET(name) extern "C" int fuzz_##name(const std::uint8_t* data, std::size_t size);
#include "attack_targets.inc"
#undef ATTACK_TARGET
// NOLINTEND(readability-identifier-naming)

namespace assay::attack {
namespace {

using namespace testing;
namespace fs = std::filesystem;

// --- whatever is done is named, also by a program that dies of it ---------------------------------

std::string doing; ///< the last thing that was begun

void say_and_die(int signal) {
    write_all(STDERR_FILENO, doing);
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

/// A reader has five minutes for each of them, under sanitizers on a busy machine; they need milliseconds.
void begin(const std::string& what) {
    constexpr unsigned most_seconds = 300;
    doing = fmt::format("\nwhile reading {}\n", what);
    for (const int signal : {SIGALRM, SIGABRT, SIGILL, SIGTRAP, SIGSEGV})
        std::signal(signal, say_and_die);
    ::alarm(most_seconds);
}

std::uint64_t from_environment(const char* name, std::uint64_t usual) {
    const char* const text = std::getenv(name); // NOLINT(concurrency-mt-unsafe): one thread
    return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

// --- texts ---------------------------------------------------------------------------------------

struct Target {
    const char* name;
    int (*read)(const std::uint8_t* data, std::size_t size);
};
constexpr std::array targets{
#define ATTACK_TARGET(name) Target{#name, &fuzz_##name},
#include "attack_targets.inc"
#undef ATTACK_TARGET
};

std::vector<std::string> good_texts(const std::string& target) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator{fs::path{ATTACK_CORPUS} / target})
        files.push_back(entry.path());
    std::ranges::sort(files);
    std::vector<std::string> texts;
    for (const auto& file : files) texts.push_back(test::content_of(file));
    return texts;
}

class HostileTexts : public TestWithParam<Target> {};

/// ASSAY_HOSTILE_FILES for each reader, from seed ASSAY_HOSTILE_SEED on, with up to ASSAY_HOSTILE_SIZE blank lines,
/// digits or brackets in a row.
TEST_P(HostileTexts, AreReadOrRefused) {
    const auto texts = good_texts(GetParam().name);
    ASSERT_FALSE(texts.empty());
    const auto first = from_environment("ASSAY_HOSTILE_SEED", 1);
    const auto count = from_environment("ASSAY_HOSTILE_FILES", 3 * ways);
    const auto many = from_environment("ASSAY_HOSTILE_SIZE", 5'000);
    for (auto seed = first; seed < first + count; ++seed) {
        const auto& good = texts[(seed / ways) % texts.size()];
        const auto text = hostile_text(good, seed, seed, many);
        begin(
            fmt::format("{} with ASSAY_HOSTILE_FILES=1 ASSAY_HOSTILE_SEED={} ASSAY_HOSTILE_SIZE={}",
                        GetParam().name, seed, many));
        GetParam().read(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    }
    ::alarm(0);
}
INSTANTIATE_TEST_SUITE_P(Readers, HostileTexts, ValuesIn(targets),
                         [](const auto& info) { return std::string{info.param.name}; });

// --- paths ---------------------------------------------------------------------------------------

struct Reader {
    const char* name;
    bool (*reads)(const fs::path& path);
};
const std::array readers{
    Reader{"a result", [](const fs::path& path) { return record::read_run(path).has_value(); }},
    Reader{"a result of a report",
           [](const fs::path& path) { return store::read_result(path).has_value(); }},
    Reader{"results",
           [](const fs::path& path) {
               const auto all = store::collect({path.string()});
               return all && !all->runs.empty();
           }},
    Reader{"a result to verify",
           [](const fs::path& path) { return decide::verify_run(path).has_value(); }},
    Reader{"a journal",
           [](const fs::path& path) { return record::read_journal(path).has_value(); }},
    Reader{"a journal to go on with",
           [](const fs::path& path) { return LineFile::open(path).has_value(); }},
    Reader{"expectations",
           [](const fs::path& path) { return decide::read_expectations(path).has_value(); }},
    Reader{"nodes", [](const fs::path& path) { return fleet::read_nodes(path).has_value(); }},
    Reader{"limits", [](const fs::path& path) { return judge::read_limits(path).has_value(); }},
    Reader{"offers", [](const fs::path& path) { return purchase::offers_of({path}).has_value(); }},
    Reader{"profiles",
           [](const fs::path& path) { return purchase::read_profiles({path}).has_value(); }},
    Reader{"data sheets",
           [](const fs::path& path) { return reference::read_hardware({path}).has_value(); }},
    Reader{"a suite", [](const fs::path& path) { return plan::read_suite(path).has_value(); }},
    Reader{"a manifest",
           [](const fs::path& path) { return plan::read_manifest(path).has_value(); }},
    Reader{"frozen suites",
           [](const fs::path& path) { return plan::read_frozen(path).has_value(); }},
    Reader{"a signer's key",
           [](const fs::path& path) { return exchange::check_bundle(path, path).has_value(); }}};

TEST(HostilePaths, AreRefusedAtOnce) {
    const made::TemporaryFolder folder;
    const auto at = [&](const char* name) { return folder.path() / name; };
    ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
    fs::create_symlink("pipe", at("link to a pipe"));
    fs::create_symlink("/dev/zero", at("zero"));
    fs::create_symlink("/dev/tty", at("terminal"));
    fs::create_symlink("/proc/self/mem", at("memory"));
    fs::create_symlink("circle", at("circle"));
    fs::create_directory(at("folder"));
    folder.write("huge", "");
    constexpr std::uintmax_t terabyte = 1ULL << 40U;
    fs::resize_file(at("huge"), terabyte);
    for (const auto& entry : fs::directory_iterator{folder.path()})
        for (const auto& reader : readers) {
            // One that is written looks for its last line and cuts what follows; the kernel says that memory is a file.
            const bool is_large =
                entry.path().filename() == "huge" || entry.path().filename() == "memory";
            if (is_large && std::string_view{reader.name} == "a journal to go on with") continue;
            begin(fmt::format("{} from {}", reader.name, entry.path().filename().string()));
            EXPECT_FALSE(reader.reads(entry.path())) << doing;
        }
    ::alarm(0);
}

} // namespace
} // namespace assay::attack
