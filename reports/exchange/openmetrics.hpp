// SPDX-License-Identifier: Apache-2.0
//
// The newest value of every series in OpenMetrics 1.0 text, for Prometheus and what reads its format: a gauge for each
// metric, whose name ends in its unit ("assay_bandwidth_bytes_per_second"), and these:
//   assay_bound_share_ratio     share of the roofline bound that the primary metric reaches
//   assay_interval_ratio        half the 95% interval of the primary metric over its value
//   assay_case_measured         1 where the case has a value; 0 where not, with its status as a label
//   assay_run_time_seconds      start of that run, seconds since 1970
// Labels are what tells series apart: machine, provider, instance_type, benchmark, version, device, library,
// parameters, conditions; and `cells` of a matrix. Memory grows with the number of series, not of runs.

#pragma once

#include "store/find.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::exchange {

/// Gauges in OpenMetrics text: samples of one name together, names in order.
class Gauges {
public:
    /// name="value" of labels, escaped; those without a value are left out.
    using Labels = std::vector<std::pair<std::string_view, std::string>>;
    static std::string labels(const Labels& labels);
    /// "assay_NAME_UNIT"; `labels` as made by labels().
    void add(std::string_view name, std::string_view unit, std::string_view help,
             std::string_view labels, double value, std::optional<double> timestamp = {});
    std::string text() const;

private:
    struct Family {
        std::string unit, help, samples;
    };
    std::map<std::string, Family, std::less<>> families_;
};

struct OpenMetricsOptions {
    bool timestamps =
        false; ///< of the runs, at each sample; node_exporter's textfile collector refuses them
};
std::string to_openmetrics(const store::FoundFiles& files, const OpenMetricsOptions& options,
                           store::EachRun& read);

/// "bytes_per_second" of "B/s", "" of "1".
std::string openmetrics_unit(std::string_view unit);

} // namespace assay::exchange
