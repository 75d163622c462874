// SPDX-License-Identifier: Apache-2.0

#include "language/texts/evidence.hpp"

#include "base/console.hpp"
#include "evidence/bundle.hpp"
#include "evidence/check.hpp"
#include "evidence/contents.hpp"
#include "language/language.hpp"
#include "verbs.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string>

namespace assay::report {
namespace {

/// Of a bundle, with more texts hidden: what was signed cannot be made otherwise.
Result<MadeBundle> redacted(const Options& options) {
    const auto& asked = options.evidence;
    if (options.inputs.size() > 1) return fail("--bundle of a bundle takes this one alone");
    if (asked.redact.empty())
        return fail(fmt::format("{} is a bundle already; --redact hides texts of it",
                                options.inputs.front()));
    if (!asked.key.empty() || !options.checking.limits.empty())
        return fail("a bundle keeps its limits and its signature: --redact alone goes with it");
    return redact_bundle(options.inputs.front(), asked.bundle, asked.redact);
}

} // namespace

Result<ExitCode> export_bundle(const Options& options) {
    const auto& asked = options.evidence;
    const auto made = is_bundle(options.inputs.front())
                          ? redacted(options)
                          : make_bundle(options.inputs, asked.bundle,
                                        {.limits = options.checking.limits,
                                         .key = asked.key,
                                         .serials = asked.serials,
                                         .redact = asked.redact,
                                         .created = utc_now()});
    if (!made) return tl::unexpected{made.error()};
    const auto name = plain(asked.bundle.string());
    if (options.json) {
        json::Value withheld = json::Value::array();
        for (const auto& path : made->withheld) withheld.push_back(path);
        if (auto done = print_json(json::to_text({{"schema", "assay.export/1"},
                                                  {"format", "bundle"},
                                                  {"file", name},
                                                  {"results", made->results},
                                                  {"logs", made->logs},
                                                  {"verdict", made->verdict},
                                                  {"signed", made->is_signed},
                                                  {"hidden", made->hidden},
                                                  {"withheld", std::move(withheld)}}));
            !done)
            return tl::unexpected{done.error()};
        return ExitCode::done;
    }
    auto text = say_count<text::evidence::made>(made->results, name, made->verdict) + "\n";
    if (made->hidden > 0) text += say_count<text::evidence::hidden>(made->hidden) + "\n";
    if (!made->withheld.empty())
        text += say_count<text::evidence::withheld>(made->withheld.size()) + "\n";
    text += (made->is_signed ? say<text::evidence::made_signed>(name)
                             : say<text::evidence::not_signed>()) +
            "\n";
    if (auto done = print(text); !done) return tl::unexpected{done.error()};
    return ExitCode::done;
}

Result<ExitCode> verify_bundle(const Options& options) {
    const std::filesystem::path folder{options.inputs.front()};
    const auto checked = check_bundle(folder, options.evidence.signers);
    if (!checked) return tl::unexpected{checked.error()};
    constexpr std::size_t shown = 50; // lines; --json has all
    const auto done = options.json ? print_json(json::to_text(to_json(folder, *checked)))
                                   : print(in_words(folder, *checked, shown));
    if (!done) return tl::unexpected{done.error()};
    return checked->findings.empty() ? ExitCode::done : ExitCode::failed;
}

} // namespace assay::report
