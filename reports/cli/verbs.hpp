// SPDX-License-Identifier: Apache-2.0
//
// The verbs of assay-report, a file each. Each reads, renders by reports/render, and prints or writes.

#pragma once

#include "base/result.hpp"
#include "options.hpp"
#include "purchase/cost.hpp"
#include "store/input.hpp"

#include <vector>

namespace assay::reports_cli {

Result<ExitCode> report(const Options& options);
Result<ExitCode> procure(const Options& options);
Result<ExitCode> compare_runs(const Options& options);
Result<ExitCode> diff_nodes(const Options& options);
Result<ExitCode> history(const Options& options);
Result<ExitCode> predict(const Options& options);
Result<ExitCode> check_nodes(const Options& options);
Result<ExitCode> fleet_of_nodes(const Options& options);
Result<ExitCode> limits(const Options& options);
Result<ExitCode> offers(const Options& options);
Result<ExitCode> cost(const Options& options);
Result<ExitCode> capacity(const Options& options);
Result<ExitCode> catalog(const Options& options);
Result<ExitCode> verify(const Options& options);
Result<ExitCode> export_run(const Options& options);
Result<ExitCode> import_files(const Options& options);

/// In order, the later ones on top; `inputs` gets their files.
Result<judge::Limits> limits_of(const CheckWords& asked, std::vector<store::Input>& inputs);

/// Today, and how old a price may be.
purchase::PriceTerms terms_of(const OffersWords& words,
                              const reference::Hardware* hardware = nullptr);

/// Offers, runs, data sheets and settings of what counts costs. `hardware` and `runs` must outlive it.
Result<purchase::CostOptions> cost_options(const Options& options,
                                           const reference::Hardware& hardware,
                                           const store::Collection* runs);

/// Does what was asked for, and says on stderr why it could not.
ExitCode perform(const Options& options);

} // namespace assay::reports_cli
