// SPDX-License-Identifier: Apache-2.0

#include "base/console.hpp"
#include "base/file.hpp"
#include "base/program.hpp"
#include "base/text.hpp"
#include "write/formats.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstddef>

namespace assay::write {

Result<std::string> to_pdf(std::string_view html) {
    constexpr std::size_t most_bytes = std::size_t{1} << 30U;
    constexpr int not_there = 127; // of `timeout`
    const TemporaryFolder folder;
    if (folder.path().empty())
        return fail("no temporary folder for the PDF; set TMPDIR to a writable folder",
                    Fault::environment);
    const auto page = (folder.path() / "page.html").string();
    const auto printed = (folder.path() / "page.pdf").string();
    ASSAY_TRY(write_atomically(page, html));
    for (const char* browser : {"chromium", "chromium-browser", "google-chrome"}) {
        std::vector<std::string> command{"timeout",
                                         "-k",
                                         "5",
                                         "120",
                                         browser,
                                         "--headless",
                                         "--disable-gpu",
                                         "--no-pdf-header-footer"};
        command.push_back(fmt::format("--user-data-dir={}/profile", folder.path().string()));
        // Its sandbox refuses root. The page is ours, and refers to nothing outside itself.
        if (::geteuid() == 0) command.emplace_back("--no-sandbox");
        command.push_back(fmt::format("--print-to-pdf={}", printed));
        command.push_back("file://" + page);
        ASSAY_TRY(const auto said, run_and_read(std::move(command)));
        if (said.code == not_there) continue;
        auto pdf = read_whole(printed, most_bytes);
        if (pdf && pdf->starts_with("%PDF-")) return pdf;
        const auto words = trim(said.text);
        return fail(
            fmt::format("{} printed no PDF ({}); write the page with --html and print it in a "
                        "browser",
                        browser, plain(words.substr(words.rfind('\n') + 1), 200)),
            Fault::environment);
    }
    return fail(
        "a PDF needs Chromium or Chrome (sudo apt-get install chromium); or write the page with "
        "--html and print it in a browser",
        Fault::environment);
}

} // namespace assay::write
