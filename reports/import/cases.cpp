// SPDX-License-Identifier: Apache-2.0
//
// Records made into cases by the rules of a description. Whatever the tool: one bad number costs its record, a result
// that the tool calls wrong has no figure, and an incomplete run gives no result.

#include "extract/units.hpp"
#include "import/figures.hpp"
#include "import/functions.hpp"
#include "import/output.hpp"
#include "json/words.hpp"
#include "record/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace assay::imports {
namespace {

/// How tools write that there is no value.
bool is_absent(std::string_view word) {
    static constexpr std::array words{"", "-", "--", "---", "N/A", "n/a", "NA", "null", "None"};
    return std::ranges::find(words, word) != words.end();
}

/// True for NaN and infinity in a figure beside the main one, which cost that figure alone.
bool is_not_a_number(std::string_view word) {
    if (word.starts_with('-') || word.starts_with('+')) word.remove_prefix(1);
    const auto small = word_of(word);
    return small == "nan" || small == "inf" || small == "infinity";
}

record::Value value_of(std::string_view text, const ParameterRule& rule) {
    if (rule.size)
        if (const auto bytes = bytes_of(text); bytes && *bytes < 9e15)
            return static_cast<std::int64_t>(*bytes);
    if (const auto mapped = value_in(rule.values, text); !mapped.empty()) text = mapped;
    if (text == "true" || text == "false") return text == "true";
    if (const auto number = integer_of(text)) return *number;
    if (const auto number = number_of(text); number && rule.number) return *number;
    return std::string{text};
}

class Maker {
public:
    Maker(Output& output, const Description& description, std::string_view source, Draft& draft)
        : output_{output}, d_{description}, source_{source}, draft_{draft} {}

    Result<void> make() {
        if (output_.records.empty() && !output_.wrong.empty())
            draft_.skip("output", output_.wrong, "no values, and it reports " + output_.wrong);
        facts(output_.facts);
        for (const auto& [name, list] : output_.lists)
            for (auto fields : list) {
                derive(fields);
                facts(fields);
            }
        for (auto& record : output_.records) {
            // Text behind the value that does not belong to it.
            record.fields.insert(output_.facts.begin(), output_.facts.end());
            derive(record.fields);
            if (d_.join && text_of(record.fields, "kind") == d_.join->with)
                joined_.try_emplace(key(record.fields), &record);
        }
        for (auto& record : output_.records) {
            if (draft_.is_full()) return {};
            if (record.process) draft_.begin_process(record.where);
            join(record.fields);
            facts(record.fields);
            bool any = false;
            for (const auto& rule : d_.cases) {
                if (!rule.of.empty() && text_of(record.fields, rule.of).empty()) continue;
                any = true;
                ASSAY_TRY(make_case(rule, record));
            }
            if (!any && !(record.trouble.empty() && record.wrong.empty()))
                draft_.skip(record.where, record.text,
                            record.wrong.empty() ? record.trouble : record.wrong);
            else if (!any && (!record.is_block || output_.records.size() == 1))
                draft_.skip(record.where, record.text, "none of its values is read");
        }
        return {};
    }

private:
    void facts(const Fields& fields) {
        const auto said = [&](const char* name) { return text_of(fields, name); };
        draft_.set_tool_version(said("version"));
        draft_.add_host(said("host"));
        if (!said("started").empty() && draft_.run().started.empty())
            draft_.set_started(said("started"));
        if (!said("ended").empty()) draft_.set_ended(said("ended"));
        if (!said("cpu_model").empty() && draft_.machine().cpu_model.empty())
            draft_.machine().cpu_model = said("cpu_model");
        for (const auto& [name, text] : d_.software)
            draft_.add_software(name, filled(text, fields));
    }

    void derive(Fields& fields) const {
        for (const auto& rule : d_.derive) {
            Map groups;
            const auto from = text_of(fields, rule.from);
            if (from.empty() || !rule.is.match(from, groups)) continue;
            for (auto& [name, value] : groups) fields.try_emplace(name, std::move(value));
            for (const auto& [name, value] : rule.set)
                fields.insert_or_assign(name, filled(value, fields));
        }
    }

    std::string key(const Fields& fields) const {
        std::string key;
        for (const auto& name : d_.join->by) key += fmt::format("{}\n", text_of(fields, name));
        return key;
    }
    void join(Fields& fields) const {
        if (!d_.join || text_of(fields, "kind") != d_.join->kind) return;
        const auto found = joined_.find(key(fields));
        if (found == joined_.end()) return;
        for (const auto& name : d_.join->fields)
            if (const auto value = text_of(found->second->fields, name); !value.empty())
                fields.insert_or_assign(name, std::string{value});
    }

    void parameters(const std::vector<ParameterRule>& rules, const Fields& fields,
                    record::NamedList& list) {
        for (const auto& rule : rules) {
            const auto& from = rule.from.empty() ? rule.name : rule.from;
            const auto text = from.find('{') == std::string::npos
                                  ? std::string{text_of(fields, from)}
                                  : filled(from, fields);
            if (is_absent(text)) {
                if (rule.needed && record::find(draft_.options().parameters, rule.name) == nullptr)
                    draft_.note(
                        fmt::format("the output does not state its {}: add --parameter {}=..., "
                                    "or runs that differ in it look alike",
                                    rule.name, rule.name));
            } else if (std::ranges::find(rule.omit, text) == rule.omit.end()) {
                list.push_back({rule.name, value_of(text, rule)});
            }
        }
    }

    /// In the base unit; nothing if absent, a message if invalid.
    Result<std::optional<double>> number(const MetricRule& rule, const Fields& fields) const {
        const auto text = text_of(fields, filled(rule.from, fields));
        if (is_absent(text)) return std::optional<double>{};
        const auto bad = [&] {
            const auto title = text_of(fields, rule.from + ".title");
            return fail(fmt::format("{}: invalid value {} (expected a positive number)",
                                    title.empty() ? filled(rule.from, fields) : std::string{title},
                                    json::show_text(text)));
        };
        auto value = number_of(text);
        if (value && !rule.minus.empty()) {
            const auto other = number_of(text_of(fields, rule.minus));
            value = other ? std::optional{*value - *other} : std::nullopt;
        }
        if (!value && rule.optional && is_not_a_number(text)) {
            draft_.note(fmt::format("{}: {} was left out", rule.from, text), true);
            return std::optional<double>{};
        }
        if (!value) return bad();
        const auto unit = rule.unit == "title" ? unit_in(text_of(fields, rule.from + ".title"))
                                               : unit_of(rule.unit);
        if (!unit)
            return fail(fmt::format("{}: unknown unit", text_of(fields, rule.from + ".title")));
        const auto* known = record::find_metric(rule.metric);
        const bool may_be_zero = known != nullptr && known->may_be_zero;
        if (*value == 0 && !may_be_zero && (rule.optional || !rule.zero.empty()))
            return std::optional<double>{rule.zero.empty() ? std::nullopt : std::optional{0.0}};
        if (!(*value > 0) && !(may_be_zero && *value == 0)) return bad();
        const double scaled = *value * unit->factor;
        if (!std::isfinite(scaled) || (scaled == 0 && *value != 0)) return bad();
        return std::optional{scaled};
    }

    Result<void> make_case(const CaseRule& rule, Record& record) {
        const auto& fields = record.fields;
        const auto place = filled(d_.place, fields);
        auto known = value_in(d_.places, place);
        if (known.empty()) known = value_in(d_.places, "*");
        Reading reading{.name = filled(rule.name, fields),
                        .place = known.empty() ? word_of(place) : std::string{known},
                        .library = filled(d_.library, fields),
                        .where = record.where};
        if (!rule.name.empty() && reading.name.empty()) {
            const auto says = std::ranges::find_if(rule.status, [&](const StatusRule& s) {
                return !s.because.empty() && s.is.matches(text_of(fields, s.from));
            });
            draft_.skip(record.where, record.text,
                        says == rule.status.end() ? "missing name" : filled(says->because, fields));
            return {};
        }
        for (const auto* list : {&rule.parameters, &d_.parameters})
            parameters(*list, fields, reading.parameters);
        for (const auto* list : {&rule.settings, &d_.settings})
            parameters(*list, fields, reading.settings);
        reading.headline = filled(rule.headline, fields);
        if (!rule.metrics.empty() && reading.headline.empty())
            reading.headline = rule.metrics.front().metric;
        if (!rule.time.empty()) reading.headline = rule.time.front().metric;
        for (const auto& [name, value] : fields)
            if (rule.left_out.matches(name) &&
                std::ranges::find(rule.metrics, name, &MetricRule::from) == rule.metrics.end())
                draft_.note(fmt::format("{}: left out (no metric for it)", json::show_text(name)),
                            true);
        const auto status = std::ranges::find_if(rule.status, [&](const StatusRule& s) {
            return s.is.matches(text_of(fields, s.from));
        });
        if (status != rule.status.end() && status->then == "none") return {};
        ASSAY_TRY(refuse_twice(rule, record, reading));
        if (ends_badly(rule, record, reading)) {
            draft_.add(std::move(reading));
            return {};
        }
        if (!take_figures(rule, fields, reading, record)) return {};
        Making making{output_, record, reading, draft_, source_};
        verify(rule, record, reading);
        if (!rule.function.empty()) {
            ASSAY_TRY(const bool is_complete, function_named(rule.function)(making));
            if (!is_complete) return {};
        } else if (reading.extra.empty() && !reading.seconds && !has_failed(reading)) {
            draft_.skip(record.where, record.text, "none of its values is read");
            return {};
        }
        if (!text_of(fields, rule.needs_check).empty() && !rule.needs_check.empty() &&
            !reading.verification) {
            draft_.skip(record.where, record.text, "its residual is missing: it may be incomplete");
            return {};
        }
        draft_.explain(record.where, "the case " + reading.name);
        draft_.add(std::move(reading));
        return {};
    }

    /// Copies that write at the same time leave tables with each row twice, and no one knows which value is whose.
    Result<void> refuse_twice(const CaseRule& rule, const Record& record, const Reading& reading) {
        if (!record.is_row || (!rule.function.empty() && rule.function != "kernel")) return {};
        record::Case c;
        c.benchmark = reading.name;
        c.parameters = reading.parameters;
        if (seen_.insert(record::identity(c)).second) return {};
        return fail(
            fmt::format("{}: {}: {} occurs twice in one output, as if several copies wrote to it: "
                        "separate them with mpirun --tag-output or srun --label",
                        source_, record.where, json::show_text(record.text)));
    }

    static bool has_failed(const Reading& reading) {
        return reading.verification && !reading.verification->passed;
    }

    /// True: the case has a status and no figure.
    bool ends_badly(const CaseRule& rule, const Record& record, Reading& reading) const {
        const auto& fields = record.fields;
        const auto because = [&](std::string_view status, std::string reason) {
            reason.resize(reason.find_last_not_of(" :") + 1);
            reading.status = *value_named<record::Status>(status);
            reading.reason = std::move(reason);
            if (reading.status != record::Status::incorrect) return;
            // The record marks a wrong result by its verification.
            reading.status = record::Status::ok;
            reading.verification = record::Verification{
                .passed = false, .method = method(rule), .detail = reading.reason};
            reading.reason.clear();
        };
        for (const auto& status : rule.status) {
            if (!status.is.matches(text_of(fields, status.from))) continue;
            if (status.then == "ok" || status.then == "none") break;
            because(status.then, filled(status.because, fields));
            return true;
        }
        if (!rule.done.empty()) {
            const auto done = number_of(text_of(fields, rule.done));
            const auto asked = number_of(text_of(fields, rule.asked));
            if (done && asked && *done < *asked) {
                because("failed",
                        fmt::format("{} of {} {} were completed", *done, *asked, rule.things));
                return true;
            }
        }
        if (!record.wrong.empty() && lacks_figures(rule, record)) {
            because("incorrect", "it reports " + record.wrong);
            return true;
        }
        if (!record.trouble.empty() && record.is_block && lacks_figures(rule, record)) {
            because("failed", "it reports " + record.trouble);
            return true;
        }
        return false;
    }
    static bool lacks_figures(const CaseRule& rule, const Record& record) {
        if (!rule.figures.empty()) return text_of(record.fields, rule.figures).empty();
        return rule.function.empty() &&
               std::ranges::all_of(rule.metrics, [&](const MetricRule& metric) {
                   return is_absent(text_of(record.fields, metric.from));
               });
    }

    /// Product of numbers and fields: "steps*atoms". 0 if one is invalid.
    static double product(std::string_view text, const Fields& fields) {
        double value = 1;
        for (const auto part : split(text, "*"))
            value *= number_of(part).value_or(number_of(text_of(fields, part)).value_or(0));
        return std::isfinite(value) ? value : 0;
    }

    bool take_figures(const CaseRule& rule, const Fields& fields, Reading& reading,
                      const Record& record) {
        const auto refuse = [&](const std::string& why) {
            draft_.skip(record.where, record.text, why);
            return false;
        };
        for (const auto& metric : rule.metrics) {
            const auto value = number(metric, fields);
            if (!value) return refuse(value.error().message);
            if (!*value) continue;
            if (**value == 0 && !metric.zero.empty()) {
                draft_.note(metric.zero);
                return false;
            }
            if (record::find(reading.extra, metric.metric) == nullptr)
                reading.extra.push_back({metric.metric, **value});
        }
        for (const auto& time : rule.time) {
            const auto value = number(time, fields);
            if (!value) return refuse(value.error().message);
            if (*value && !reading.seconds) {
                reading.seconds = *value;
                reading.headline = time.metric;
            }
        }
        for (const auto& p99 : rule.p99) {
            const auto value = number(p99, fields);
            if (!value) return refuse(value.error().message);
            if (*value) reading.p99 = *value;
        }
        if (!reading.seconds && !reading.extra.empty() &&
            record::find(reading.extra, reading.headline) == nullptr)
            reading.headline = reading.extra.front().name;
        if (const auto calls = integer_of(rule.calls) ? number_of(rule.calls)
                                                      : number_of(text_of(fields, rule.calls));
            calls && *calls >= 1 && *calls < 1e15)
            reading.calls = static_cast<std::uint64_t>(*calls);
        for (const auto& [amount, from] : rule.work)
            if (const double value = product(from, fields); value > 0 && reading.seconds)
                reading.work.push_back({amount, value});
        if (rule.between.size() == 3) {
            constexpr double rounding = 1e-3; // three decimals
            std::array<double, 3> order{};
            for (std::size_t i = 0; i < order.size(); ++i)
                order.at(i) = number_of(text_of(fields, rule.between[i])).value_or(0);
            if (!(order[0] <= order[1] + rounding) || !(order[1] <= order[2] + rounding))
                return refuse("its mean is not between its extremes");
        }
        for (const auto& [rate, amount, time] : rule.follows) {
            constexpr double tolerance = 0.01; // the end of the last piece of work
            const auto r = number_of(text_of(fields, rate));
            const auto a = number_of(text_of(fields, amount));
            const auto t = number_of(text_of(fields, time));
            if (r && a && t && *a > 0 && *t > 0 && !(std::abs(*r - *a / *t) <= tolerance * *a / *t))
                return refuse(fmt::format("{} does not match {} and {}", rate, amount, time));
        }
        return true;
    }

    std::string method(const CaseRule& rule) const {
        return rule.method.empty() ? d_.title + "'s own checks" : rule.method;
    }

    void verify(const CaseRule& rule, const Record& record, Reading& reading) const {
        record::Verification check{.passed = true, .method = method(rule)};
        const auto says = [&](std::string_view text) {
            check.passed = false;
            if (check.detail.empty()) check.detail = fmt::format("it reports {}", text);
        };
        const auto verdict = text_of(record.fields, rule.check);
        const bool has_verdict = !rule.check.empty() && !is_absent(verdict);
        if (has_verdict && verdict != rule.passes) says(verdict);
        if (!record.wrong.empty()) says(record.wrong);
        check.error = number_of(text_of(record.fields, rule.error));
        check.bound = number_of(text_of(record.fields, rule.bound));
        if (check.bound && !(*check.bound > 0)) check.bound.reset();
        const auto error = text_of(record.fields, rule.error);
        if (!rule.error.empty() && !error.empty() &&
            (!check.error || (check.bound && !(*check.error < *check.bound))))
            says(fmt::format("a residual of {}", error));
        const bool is_right = has_verdict || !record.right.empty();
        // The whole output counts, unless the row has a verdict of its own.
        if (!is_right && check.passed && !output_.wrong.empty()) says(output_.wrong);
        if (is_right || !check.passed || !output_.right.empty()) reading.verification = check;
    }

    Output& output_;
    const Description& d_;
    std::string_view source_;
    Draft& draft_;
    std::map<std::string, const Record*, std::less<>> joined_;
    std::set<std::string> seen_; ///< cases of rows
};

} // namespace

Result<void> add_cases(Output& output, const Description& description, std::string_view source,
                       Draft& draft) {
    return Maker{output, description, source, draft}.make();
}

} // namespace assay::imports
