// SPDX-License-Identifier: Apache-2.0
#include "resources.hpp"

#include <uct/api/uct.h>

#include <algorithm>
#include <span>

namespace assay::network {
namespace {

void add_transports(uct_md_h domain, std::vector<std::string>& names) {
    uct_tl_resource_desc_t* resources = nullptr;
    unsigned count = 0;
    if (uct_md_query_tl_resources(domain, &resources, &count) != UCS_OK) return;
    for (const auto& resource : std::span{resources, count}) names.emplace_back(resource.tl_name);
    uct_release_tl_resource_list(resources);
}

void add_domain(uct_component_h component, const char* name, std::vector<std::string>& names) {
    uct_md_config_t* config = nullptr;
    if (uct_md_config_read(component, nullptr, nullptr, &config) != UCS_OK) return;
    uct_md_h domain = nullptr;
    const auto opened = uct_md_open(component, name, config, &domain);
    uct_config_release(config);
    if (opened != UCS_OK) return;
    add_transports(domain, names);
    uct_md_close(domain);
}

void add_component(uct_component_h component, std::vector<std::string>& names) {
    uct_component_attr_t attributes{};
    attributes.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT;
    if (uct_component_query(component, &attributes) != UCS_OK) return;
    std::vector<uct_md_resource_desc_t> domains(attributes.md_resource_count);
    attributes.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES;
    attributes.md_resources = domains.data();
    if (domains.empty() || uct_component_query(component, &attributes) != UCS_OK) return;
    for (const auto& domain : domains) add_domain(component, domain.md_name, names);
}

std::vector<std::string> look() {
    uct_component_h* components = nullptr;
    unsigned count = 0;
    std::vector<std::string> names;
    if (uct_query_components(&components, &count) != UCS_OK) return names;
    for (auto* const component : std::span{components, count}) add_component(component, names);
    uct_release_component_list(components);
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
    return names;
}

} // namespace

std::vector<std::string> transports_found() {
    static const std::vector<std::string> found = look();
    return found;
}

} // namespace assay::network
