# assay_module(<name> [HOOKS <source>] [LINK <target>...])
# assay_benchmark(<module> <family>::<symbol> <source>...)
# assay_finish_module(<name>)
#
# A module is a shared library of benchmarks, one per library that does the work, named after it.
# assay_benchmark adds one benchmark. The list of a module's benchmarks is written out by
# assay_finish_module, so a benchmark that is listed but has no definition is a link error, never a
# silently shorter list. A HOOKS source defines `extern const assay::Module assay_module_hooks`:
# library versions, tunings, and how a team is joined.
#
# Beside each module lies its manifest, <name>.json: what `assay list`, `describe` and `plan` read, so
# that they load no library. `assay manifest` writes it, from the module itself.
#
# The same file serves this project and, installed with the CMake package `assay`, everybody's
# modules. There, ASSAY_MODULE_DIR says where modules go (default: the build folder).

if(NOT DEFINED ASSAY_MODULE_DIR)
    set(ASSAY_MODULE_DIR "${CMAKE_CURRENT_BINARY_DIR}/assay")
endif()

function(assay_module name)
    cmake_parse_arguments(MODULE "" "HOOKS" "LINK" ${ARGN})
    add_library(assay_module_${name} MODULE)
    set_target_properties(assay_module_${name} PROPERTIES
        OUTPUT_NAME ${name} PREFIX "" LIBRARY_OUTPUT_DIRECTORY "${ASSAY_MODULE_DIR}"
        CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
        CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
        ASSAY_BENCHMARKS "" ASSAY_HOOKS "${MODULE_HOOKS}")
    set_property(TARGET assay_module_${name} PROPERTY INSTALL_RPATH "$ORIGIN/..")
    # Clang leaves the functions of its sanitizers to the program that loads the library.
    target_link_options(assay_module_${name} PRIVATE $<$<NOT:$<BOOL:${ASSAY_SANITIZE_ALL}>>:-Wl,-z,defs>
        -Wl,--exclude-libs,ALL -Wl,--build-id=sha1) # by which the manifest and a resumed run know the module
    target_link_libraries(assay_module_${name} PRIVATE assay::counter ${MODULE_LINK})
    # Optimised whatever the build type, and the same on every machine: wider instruction sets are
    # chosen at run time.
    set(optimisation $<$<COMPILE_LANGUAGE:CXX>:-O3>)
    if(TARGET assay_benchmark_sanitizers)
        target_link_libraries(assay_module_${name} PRIVATE assay_warnings assay_benchmark_sanitizers)
        set(optimisation ${assay_benchmark_optimisation})
    endif()
    target_compile_options(assay_module_${name} PRIVATE ${optimisation})
    if(MODULE_HOOKS)
        target_sources(assay_module_${name} PRIVATE "${MODULE_HOOKS}")
    endif()
endfunction()

function(assay_benchmark module symbol)
    target_sources(assay_module_${module} PRIVATE ${ARGN})
    set_property(TARGET assay_module_${module} APPEND PROPERTY ASSAY_BENCHMARKS "${symbol}")
endfunction()

function(assay_finish_module name)
    get_target_property(symbols assay_module_${name} ASSAY_BENCHMARKS)
    get_target_property(hooks assay_module_${name} ASSAY_HOOKS)
    set(declarations "")
    set(entries "")
    foreach(symbol IN LISTS symbols)
        if(NOT symbol MATCHES "^(.+)::([^:]+)$")
            message(FATAL_ERROR "assay_benchmark: `${symbol}` should be <family>::<symbol>")
        endif()
        string(APPEND declarations
            "namespace assay::${CMAKE_MATCH_1} { extern const assay_benchmark ${CMAKE_MATCH_2}; }\n")
        string(APPEND entries "    &assay::${symbol},\n")
    endforeach()
    if(hooks)
        set(hooks_declaration "extern const assay::Module assay_module_hooks;")
    else()
        set(hooks_declaration "static constexpr assay::Module assay_module_hooks{};")
    endif()
    set(catalogue "${CMAKE_CURRENT_BINARY_DIR}/catalogue_${name}.cpp")
    configure_file("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/catalogue.cpp.in" "${catalogue}" @ONLY)
    if(COMMAND assay_compile_together)
        assay_compile_together(assay_module_${name})
    endif()
    target_sources(assay_module_${name} PRIVATE "${catalogue}")
    assay_describe_module(${name})
endfunction()

# The manifest beside the module, and where both are installed.
function(assay_describe_module name)
    add_custom_command(TARGET assay_module_${name} POST_BUILD
        COMMAND ${CMAKE_COMMAND} -E env --unset=ASSAY_EXTERNAL_PATH
                $<TARGET_FILE:assay::assay> manifest "$<TARGET_FILE:assay_module_${name}>"
                --out "${ASSAY_MODULE_DIR}/${name}.json"
        VERBATIM)
    if(TARGET assay)
        add_dependencies(assay_module_${name} assay)
        install(TARGETS assay_module_${name} LIBRARY DESTINATION lib/assay COMPONENT module_${name})
        install(FILES "${ASSAY_MODULE_DIR}/${name}.json" DESTINATION lib/assay COMPONENT module_${name})
    endif()
endfunction()
