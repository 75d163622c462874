// SPDX-License-Identifier: Apache-2.0
//
// The option for machines that the provider may take back.

#pragma once

#include <string>

namespace assay::cli {

template <class App> // of the option parser, which one file includes
void add_preemption(App& verb, std::string& watch) {
    verb.add_option("--watch-preemption", watch,
                    "Ask the cloud every 5 s whether it takes this machine back, and then end in "
                    "order, with exit code 5; URL: http:// of such a service: ec2")
        ->type_name("ec2|gce|azure|URL");
}

} // namespace assay::cli
