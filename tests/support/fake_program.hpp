// SPDX-License-Identifier: Apache-2.0
//
// The program's side of the C interface: facts for modules, and ears for what they say.

#pragma once

#include <assay/module.h>

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace assay::test {

struct FakeProgram {
    struct Table {
        std::string metric;
        std::vector<std::string> labels; ///< titles and labels of rows and columns
        std::vector<double> values;
    };

    FakeProgram() {
        services.struct_size = sizeof services;
        services.abi = ASSAY_MODULE_ABI;
        services.context = this;
        services.fact = [](void* context, const char* name) {
            const auto found = self(context).facts.find(name);
            return found == self(context).facts.end() ? std::numeric_limits<double>::quiet_NaN()
                                                      : found->second;
        };
        services.fact_text = [](void* context, const char* name) -> const char* {
            const auto found = self(context).text_facts.find(name);
            return found == self(context).text_facts.end() ? nullptr : found->second.c_str();
        };
        services.setting_number = [](void* context, const char* name, double value) {
            self(context).numbers[name] = value;
        };
        services.setting_text = [](void* context, const char* name, const char* value) {
            self(context).texts[name] = value;
        };
        services.metric = [](void* context, const char* name, double value) {
            self(context).metrics[name] = value;
        };
        services.log = [](void*, std::int32_t, const char*) {};
        services.table = [](void* context, const assay_table* table) {
            Table made{
                .metric = table->metric,
                .labels = {table->row_title, table->column_title},
                .values = {table->values, table->values + table->row_count * table->column_count}};
            made.labels.insert(made.labels.end(), table->rows, table->rows + table->row_count);
            made.labels.insert(made.labels.end(), table->columns,
                               table->columns + table->column_count);
            self(context).tables.push_back(made);
        };
    }
    FakeProgram(const FakeProgram&) = delete;
    FakeProgram& operator=(const FakeProgram&) = delete;
    ~FakeProgram() = default;

    std::map<std::string, double> facts;
    std::map<std::string, std::string> text_facts;
    std::map<std::string, double> numbers; ///< settings
    std::map<std::string, std::string> texts;
    std::map<std::string, double> metrics;
    std::vector<Table> tables;
    assay_services services{};

private:
    static FakeProgram& self(void* context) { return *static_cast<FakeProgram*>(context); }
};

} // namespace assay::test
