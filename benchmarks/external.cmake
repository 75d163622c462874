# The module `external`: other programs, as files of configs/external/ describe them. Those are part of the library.
find_package(nlohmann_json REQUIRED)

file(GLOB descriptions CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/configs/external/*.json")
list(FILTER descriptions EXCLUDE REGEX "/schema\\.json$")
set(shipped "// Written by external.cmake.\n#include \"external/library.hpp\"\n\nnamespace assay::external {\n"
    "const Shipped shipped[] = {\n")
string(JOIN "" shipped ${shipped})
list(LENGTH descriptions count)
foreach(file IN LISTS descriptions)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(READ "${file}" text)
    get_filename_component(name "${file}" NAME)
    string(APPEND shipped "    {\"${name}\", R\"assay(${text})assay\"},\n")
endforeach()
string(APPEND shipped "};\nconst std::size_t shipped_count = ${count};\n} // namespace assay::external\n")
set(source "${CMAKE_CURRENT_BINARY_DIR}/shipped_descriptions.cpp")
file(WRITE "${source}.new" "${shipped}")
file(COPY_FILE "${source}.new" "${source}" ONLY_IF_DIFFERENT)

# What unit tests call as well as the module: compiled once.
add_library(assay_external OBJECT external/description.cpp external/output.cpp external/process.cpp
    external/file_system.cpp
    external/scratch.cpp external/fill.cpp external/program.cpp external/team.cpp external/tool_case.cpp external/library.cpp "${source}")
target_link_libraries(assay_external PUBLIC assay_counter assay_extract nlohmann_json::nlohmann_json
    PRIVATE assay_warnings assay_sanitizers)
target_include_directories(assay_external PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}" PRIVATE "${CMAKE_CURRENT_BINARY_DIR}")
target_compile_options(assay_external PRIVATE ${assay_usual_optimisation}) # none of it is timed
set_target_properties(assay_external PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
assay_compile_together(assay_external)

assay_module(external LINK assay_external)
target_link_options(assay_module_external PRIVATE $<$<BOOL:${ASSAY_SANITIZE}>:-Wl,-z,undefs>) # clang's programs have the sanitizers
target_sources(assay_module_external PRIVATE external/external.cpp)
assay_describe_module(external)
