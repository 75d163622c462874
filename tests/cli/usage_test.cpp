// SPDX-License-Identifier: Apache-2.0
//
// Completion and manual pages, as shells and man read them; and plain ASCII on the terminal.
#include "program.hpp"

#include <unistd.h>

#include <algorithm>

namespace assay::cli_test {
namespace {

using namespace testing;
namespace fs = std::filesystem;

const std::string programs = fs::path{ASSAY_PROGRAM}.parent_path().string();

bool is_installed(const char* program) {
    for (const char* folder : {"/usr/bin", "/bin", "/usr/local/bin"})
        if (::access((fs::path{folder} / program).c_str(), X_OK) == 0) return true;
    return false;
}

/// A shell's answer to a script, with the programs of this build on its path.
std::string shell(const std::string& name, const std::string& script,
                  const std::vector<std::string>& options = {}) {
    std::vector<std::string> through{"/usr/bin/env", "PATH=" + programs + ":/usr/bin:/bin", name};
    through.insert(through.end(), options.begin(), options.end());
    through.insert(through.end(), {"-c", script});
    const auto outcome = run({}, {.environment = {}, .through = through});
    EXPECT_THAT(outcome.error, IsEmpty()) << script;
    return outcome.output;
}

/// The words that bash offers for the last of these.
std::string offered(const std::string& program, const std::string& words) {
    return " " + shell("bash", "source <(" + program + " --completion bash); COMP_WORDS=(" + words +
                                   "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); " +
                                   "_${COMP_WORDS[0]//-/_}; echo ${COMPREPLY[*]} ''");
}

TEST(Completion, BashKnowsVerbsOptionsValuesAndNames) {
    EXPECT_EQ(offered("assay", "assay ru"), " run \n");
    EXPECT_THAT(offered("assay", "assay ''"),
                AllOf(HasSubstr(" doctor "), HasSubstr(" compare "), Not(HasSubstr("manifest"))));
    EXPECT_EQ(offered("assay", "assay run --laun"), " --launcher \n");
    EXPECT_EQ(offered("assay", "assay run --launcher ''"), " mpirun srun \n");
    EXPECT_EQ(offered("assay", "assay run --lang = z"), " zh \n");
    EXPECT_EQ(offered("assay", "assay run qui"), " quick \n");
    EXPECT_THAT(offered("assay", "assay describe memory.s"), HasSubstr(" memory.stream "));
    EXPECT_EQ(offered("assay", "assay run quick --out /us"), " /usr \n");
    EXPECT_EQ(offered("assay", "assay run quick --tag ''"), " \n");
    EXPECT_EQ(offered("assay", "assay lst ''"), " \n");
    refuses({"--completion", "tcsh"}, {"tcsh", "zsh"});
}

TEST(Completion, BashKnowsTheVerbsOfBothPrograms) {
    for (const std::string program : {"assay", "assay-report"}) {
        EXPECT_EQ(offered(program, program + " compare --base"), " --baseline \n");
        EXPECT_EQ(offered(program, program + " export --to ''"), " csv ndjson openmetrics \n");
        EXPECT_EQ(offered(program, program + " report /us"), " /usr \n");
    }
}

/// Every option that --help shows is offered, and is in the manual page.
TEST(Completion, HasEveryOption) {
    const auto manual = run({"--man"}).output;
    for (const char* verb : {"doctor", "list", "describe", "plan", "run"}) {
        const auto all = offered("assay", std::string{"assay "} + verb + " --");
        const bool has_more = run({verb, "--help"}).output.find("--help-all") != std::string::npos;
        const auto help = run({verb, has_more ? "--help-all" : "--help"}).output;
        std::size_t found = 0;
        for (auto at = help.find("\n  --"); at != help.npos; at = help.find("\n  --", at + 1)) {
            const auto name = help.substr(at + 3, help.find_first_of(" ,\n", at + 3) - at - 3);
            EXPECT_THAT(all, HasSubstr(" " + name + " ")) << verb;
            auto in_roff = name;
            for (auto dash = in_roff.find('-'); dash != in_roff.npos;
                 dash = in_roff.find('-', dash + 2))
                in_roff.insert(dash, "\\");
            EXPECT_THAT(manual, HasSubstr("\\fB" + in_roff + "\\fR")) << verb;
            ++found;
        }
        EXPECT_GT(found, 0U) << help;
    }
}

TEST(Completion, FishAndZshReadTheirs) {
    if (!is_installed("fish") || !is_installed("zsh"))
        GTEST_SKIP() << "needs the packages fish, zsh";
    const auto fish = [](const std::string& words) {
        return shell("fish",
                     "assay --completion fish | source; assay-report --completion fish | source; "
                     "complete -C '" +
                         words + "'");
    };
    EXPECT_THAT(fish("assay run --laun"), HasSubstr("--launcher\t"));
    EXPECT_THAT(fish("assay run --launcher "), AllOf(HasSubstr("mpirun"), HasSubstr("srun")));
    EXPECT_THAT(fish("assay describe memory.s"), HasSubstr("memory.stream"));
    EXPECT_THAT(fish("assay compare --base"), HasSubstr("--baseline"));
    for (const char* program : {"assay", "assay-report"})
        EXPECT_EQ(shell("zsh",
                        "autoload -U compinit; compinit -u -D; eval \"$(" + std::string{program} +
                            " --completion zsh)\"; echo ${_comps[" + program + "]}",
                        {"-f"}),
                  program == std::string{"assay"} ? "_assay\n" : "_assay_report\n");
    EXPECT_THAT(shell("zsh",
                      "autoload -U compinit; compinit -u -D; eval \"$(assay --completion zsh)\"; "
                      "_assay_list assay",
                      {"-f"}),
                AllOf(HasSubstr("memory.stream\n"), HasSubstr("quick\n")));
}

TEST(Removed, SaysWhatToUseInstead) {
    const auto expect = [](const std::vector<std::string>& words, const std::string& message) {
        refuses(words, {message});
    };
    expect({"ledger", "add", "b", "--ledger", "l"}, ": ledger was removed. Keep the bundles");
    expect({"export", "x", "--bundle", "b", "--redact", "notes"}, ": --redact was removed. ");
    expect({"export", "x", "--redact=notes"}, ": --redact was removed. ");
    expect({"export", "--to", "gbench", "x"}, ": --to gbench was removed. Use --to csv");
    expect({"export", "--to=gbench", "x"}, ": --to gbench was removed. Use --to csv");
    expect({"doctor", "--noise", "--seconds", "1"}, ": --noise was removed. Every run records");
    expect({"check", "--self-test"}, ": --self-test was removed. ");
    expect({"compare", "a", "b", "--per", "core"}, ": --per was removed. Where the sides");
    expect({"compare", "a", "b", "--max-age", "90d"},
           ": --max-age was removed. Offers are compared");
    expect({"history", "x", "--no-index"}, ": --no-index was removed. Files are always read");
    EXPECT_THAT(run({"export", "--to", "csv", "x"}).error, Not(HasSubstr("removed")));
}

TEST(ManPage, IsReadWithoutAWarning) {
    if (!is_installed("groff")) GTEST_SKIP() << "needs the package groff-base";
    for (const char* program : {"assay", "assay-report"}) {
        const auto text =
            shell("bash", std::string{program} + " --man | groff -man -ww -Tascii -P-cbou 2>&1");
        EXPECT_THAT(text, AllOf(HasSubstr("SYNOPSIS"), HasSubstr("EXIT STATUS"),
                                HasSubstr("--help"), Not(HasSubstr("warning:"))));
    }
    EXPECT_THAT(run({"--man"}).output, HasSubstr(".BR assay\\-report (1)."));
}

TEST(ManPage, IsMadeByTheBuildAndInstalledWithTheCompletion) {
    const auto share = fs::path{ASSAY_PROGRAM}.parent_path().parent_path() / "share";
    for (const char* file :
         {"man/man1/assay.1", "man/man1/assay-report.1", "bash-completion/completions/assay",
          "zsh/site-functions/_assay-report", "fish/vendor_completions.d/assay.fish"})
        EXPECT_GT(fs::file_size(share / file), 1000U) << file;
}

TEST(Ascii, NoVerbShowsAnythingElseInSuchALocale) {
    const Folder folder;
    const auto above = [](const std::string& text) {
        return std::ranges::count_if(text, [](char c) { return (c & 0x80) != 0; });
    };
    for (const auto& arguments : {std::vector<std::string>{"doctor"},
                                  {"doctor", "--json"},
                                  {"list"},
                                  {"list", "--json"},
                                  {"describe", "--all"},
                                  {"plan", "quick"},
                                  {"plan", "nothing"},
                                  {"--help"},
                                  {"--man"},
                                  brief_run(folder.path() / "out"),
                                  {"report", (folder.path() / "out").string()}}) {
        const auto plain = run(arguments, {.environment = {"LC_ALL=C"}});
        EXPECT_EQ(above(plain.output + plain.error), 0) << plain.output << plain.error;
    }
    const auto rich = run({"plan", "quick"}, {.environment = {"LC_ALL=C.UTF-8"}});
    EXPECT_GT(above(rich.output), 0);
}

} // namespace
} // namespace assay::cli_test
