// SPDX-License-Identifier: Apache-2.0

#include "evidence/contents.hpp"

#include "evidence/files.hpp"
#include "json/words.hpp"

#include <fmt/format.h>

#include <system_error>

namespace assay::report {
namespace {

constexpr const char* salts_schema = "assay.salts/1";

} // namespace

Result<Statement> read_statement(const std::filesystem::path& folder) {
    const auto path = folder / statement_file;
    const auto value = json::read_file(path, {.bytes = most_bytes_of_list});
    if (!value) return tl::unexpected{value.error()};
    auto statement = json::read<Statement>(*value, path.string());
    if (!statement) return statement;
    const auto expect = [&](const char* key, const std::string& found,
                            const char* expected) -> Result<void> {
        if (found == expected) return {};
        return fail(json::located(
            path.string(), key,
            fmt::format("got {}, expected {}", json::show_text(found), json::show_text(expected))));
    };
    if (auto fine = expect("_type", statement->type, statement_type); !fine)
        return tl::unexpected{fine.error()};
    if (auto fine = expect("predicateType", statement->predicate_type, evidence_type); !fine)
        return tl::unexpected{fine.error()};
    for (const auto& name : statement->predicate.limits)
        if (const auto fault = fault_of_path(name); !fault.empty())
            return fail(fmt::format("{}: predicate.limits: the path {} {}", path.string(),
                                    json::show_text(name), fault));
    return statement;
}

Result<AllSalts> read_salts(const std::filesystem::path& folder) {
    const auto path = (folder / salts_file).string();
    const auto value = json::read_file(path, {.bytes = most_bytes_of_list});
    if (!value) return tl::unexpected{value.error()};
    const auto wrong = [&] {
        return fail(fmt::format("{}: expected salts of results, schema {}", path, salts_schema));
    };
    if (!value->is_object() || value->value("schema", json::Value{}) != salts_schema ||
        !value->contains("results") || !(*value)["results"].is_object() || value->size() != 2)
        return wrong();
    AllSalts all;
    for (const auto& [name, salts] : (*value)["results"].get_ref<const json::Value::object_t&>()) {
        auto read = salts_from(salts, path);
        if (!read) return tl::unexpected{read.error()};
        all.emplace(name, std::move(*read));
    }
    return all;
}

json::Value to_json(const AllSalts& salts) {
    json::Value results = json::Value::object();
    auto& members = results.get_ref<json::Value::object_t&>();
    for (const auto& [name, of] : salts) members.emplace_back(name, to_json(of));
    return {{"schema", salts_schema}, {"results", std::move(results)}};
}

bool is_bundle(const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::exists(path / statement_file, ignored) ||
           std::filesystem::exists(path / manifest_file, ignored);
}

} // namespace assay::report
