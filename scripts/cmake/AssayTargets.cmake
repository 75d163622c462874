# assay_room(<name> [SOURCES ...] [LINK ...]) makes one room of the project a static library
# `assay_<name>`, with the warnings and sanitizers that every part of the project is built with.
# Rooms are included by their path from harness/ or reports/: #include "record/model.hpp".

find_package(Threads REQUIRED)

# assay_left_out(<option> <what is left out> <why>) says so where the option is AUTO, and is an error where it is ON.
function(assay_left_out option what why)
    if("${${option}}" STREQUAL "AUTO")
        message(STATUS "${what}: ${why}")
    else()
        message(FATAL_ERROR "${option}=${${option}}: ${why}")
    endif()
endfunction()

# Compiled together, a helper of one file is no shadow in the next, and anonymous types belong to no other file.
set(assay_alone -Wshadow)
if(ASSAY_UNITY)
    set(assay_alone $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
add_library(assay_warnings INTERFACE)
target_compile_options(assay_warnings INTERFACE
    # Designated initialisers leave out members on purpose.
    $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wconversion;${assay_alone};-Wno-missing-field-initializers>
    # Errors where the project is tested: a user's compiler may warn of what none of ours does.
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${ASSAY_TESTS}>>:-Werror>
    # GCC 12 sees overlaps and lengths in std::string that cannot be (GCC bugs 105329 and 105651).
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread>
    # Clang sees libstdc++ 12 use a deprecated function in its own stable_sort, counts signedness as a conversion, and
    # warns of `omp simd` loops that it does not vectorise at -O1.
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-deprecated-declarations;-Wno-sign-conversion;-Wno-pass-failed>)

# Sanitizers cover the programs and the tests. Benchmarks are tested as they are measured, optimised and without: a module
# has a C interface, and a sanitized worker loads it like any other. ASSAY_SANITIZE_ALL covers them too.
add_library(assay_sanitizers INTERFACE)
add_library(assay_benchmark_sanitizers INTERFACE)
set(assay_benchmark_optimisation $<$<COMPILE_LANGUAGE:CXX>:-O3>)
if(ASSAY_SANITIZE_ALL)
    target_link_libraries(assay_benchmark_sanitizers INTERFACE assay_sanitizers)
    set(assay_benchmark_optimisation $<$<COMPILE_LANGUAGE:CXX>:-O1>) # compiles three times as fast
endif()
if(ASSAY_SANITIZE)
    target_compile_options(assay_sanitizers INTERFACE
        -fsanitize=undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
        # A quarter of the time to compile: null is stopped by the machine as well, and the preset `fuzz` looks for all three.
        -fno-sanitize=null,alignment,vptr)
    # Abort on an index out of range and on the value of an empty optional.
    target_compile_definitions(assay_sanitizers INTERFACE _GLIBCXX_ASSERTIONS)
    # Highway's targets are the baseline, AVX2 and AVX-512; the release build tests SSSE3 and SSE4 as well.
    target_compile_definitions(assay_sanitizers INTERFACE "HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_SSE4)")
    if(ASSAY_SANITIZE STREQUAL "address")
        target_compile_options(assay_sanitizers INTERFACE -fsanitize=address)
        target_link_options(assay_sanitizers INTERFACE -fsanitize=address)
        # A fifth of the time of programs: copies of each stack frame, to find uses of one that is gone.
        target_compile_options(assay_sanitizers INTERFACE $<$<CXX_COMPILER_ID:Clang>:-fsanitize-address-use-after-return=never>)
        # g++ says so itself; code that must know (limits of memory, stacks of fibers) asks in one way.
        target_compile_definitions(assay_sanitizers INTERFACE $<$<CXX_COMPILER_ID:Clang>:__SANITIZE_ADDRESS__=1>)
    else()
        # Variables without a value begin with one that is wrong; checked_memory.cpp does the same for memory.
        target_compile_options(assay_sanitizers INTERFACE -ftrivial-auto-var-init=pattern)
    endif()
    # At a fixed address: a fifth fewer pages to touch when one of the many programs that tests start begins.
    target_link_options(assay_sanitizers INTERFACE -fsanitize=undefined
        $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
endif()
if(ASSAY_FUZZ)
    target_compile_options(assay_sanitizers INTERFACE -fsanitize=fuzzer-no-link,address,undefined)
    target_link_options(assay_sanitizers INTERFACE -fsanitize=address,undefined)
endif()

# Two sets of headers take longer to read than most files that include them take to compile: the standard library's
# with JSON and fmt in the rooms, GoogleTest beside them in the tests. They are read once for all. Files still include
# what they use: presets `tidy` and `fuzz` build without.
set(assay_common_headers <nlohmann/json.hpp> <fmt/format.h> <fmt/ranges.h> <algorithm> <array> <charconv> <chrono> <filesystem>
    <fstream> <functional> <map> <memory> <optional> <ranges> <set> <span> <string> <tuple> <unordered_map> <variant> <vector>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang") # g++ would instantiate them in every file
    list(APPEND assay_common_headers "${CMAKE_CURRENT_LIST_DIR}/common_templates.hpp")
    set(assay_templates_of_tests "${PROJECT_SOURCE_DIR}/tests/support/common_templates.hpp")
endif()
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
function(assay_shared_headers name) # one library whose only purpose is its precompiled headers
    file(GENERATE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp" CONTENT "")
    add_library(${name} OBJECT "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp")
    target_link_libraries(${name} PRIVATE assay_warnings assay_sanitizers fmt::fmt nlohmann_json::nlohmann_json)
    target_precompile_headers(${name} PRIVATE ${assay_common_headers} ${ARGN})
endfunction()
assay_shared_headers(assay_room_headers)

# The sources of a target in a few compilations (ASSAY_UNITY): most of the time of a small file goes to the headers and
# templates that it shares with its neighbours. Two that define the same name at the left edge, as helpers in anonymous
# namespaces do, go into different groups; preset `fuzz` compiles each file by itself. CMake's own unity builds support
# neither device code nor a source that belongs to several targets.
function(assay_compile_together target)
    get_target_property(apart ${target} ASSAY_APART)
    if(NOT ASSAY_UNITY OR apart)
        return()
    endif()
    get_target_property(sources ${target} SOURCES)
    set(compiled "")
    set(last -1)
    foreach(source IN LISTS sources)
        cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
        get_source_file_property(options "${source}" COMPILE_OPTIONS)
        get_source_file_property(definitions "${source}" COMPILE_DEFINITIONS)
        cmake_path(GET source EXTENSION LAST_ONLY kind)
        if(NOT kind MATCHES "^\\.(cpp|cu)$" OR definitions OR (options AND kind STREQUAL ".cpp"))
            list(APPEND compiled "${source}")
            continue()
        endif()
        file(READ "${source}" text)
        if(text MATCHES "HWY_TARGET_INCLUDE")
            list(APPEND compiled "${source}") # it includes itself
            continue()
        endif()
        string(REGEX MATCHALL "\n((struct|class|enum class|enum|concept) [A-Za-z_]+|using [A-Za-z_]+ =|[A-Za-z_][A-Za-z0-9_:<>,*& ]* [*&]*[a-z_0-9]+( =|{|\\())"
            found "${text}")
        list(FILTER found EXCLUDE REGEX "^\nnamespace ") # an alias may be said again
        list(TRANSFORM found REPLACE "( =|{|\\()$" "")
        list(TRANSFORM found REPLACE ".*[ *&]" "")
        list(FILTER found EXCLUDE REGEX "^__") # __launch_bounds__ and the like
        list(REMOVE_DUPLICATES found)
        set(group 0)
        while(group LESS_EQUAL last)
            set(both ${names_${group}} ${found})
            list(LENGTH both length)
            list(REMOVE_DUPLICATES both)
            list(LENGTH both distinct)
            list(LENGTH group_${group} members)
            if(length EQUAL distinct AND members LESS ASSAY_UNITY_SIZE AND kind STREQUAL kind_${group})
                break()
            endif()
            math(EXPR group "${group} + 1")
        endwhile()
        if(group GREATER last)
            set(last ${group})
            set(kind_${group} ${kind})
        endif()
        list(APPEND names_${group} ${found})
        list(APPEND group_${group} "${source}")
    endforeach()
    if(last LESS 0)
        return()
    endif()
    foreach(group RANGE ${last})
        list(LENGTH group_${group} members)
        if(members LESS 2)
            list(APPEND compiled ${group_${group}})
            continue()
        endif()
        set(file "${CMAKE_CURRENT_BINARY_DIR}/together/${target}_${group}${kind_${group}}")
        list(TRANSFORM group_${group} REPLACE "(.+)" "#include \"\\1\"")
        list(JOIN group_${group} "\n" text)
        file(CONFIGURE OUTPUT "${file}" CONTENT "${text}\n" @ONLY) # it is written where it changed
        list(APPEND compiled "${file}")
    endforeach()
    set_target_properties(${target} PROPERTIES SOURCES "${compiled}")
endfunction()

# Most rooms run for milliseconds, and compile in half the time without the last optimisations.
set(assay_usual_optimisation "$<$<CONFIG:Release>:-O1>")

# assay_room(<name> [FAST] SOURCES ... LINK ...): FAST where speed was measured to matter
function(assay_room name)
    cmake_parse_arguments(ROOM "FAST" "" "SOURCES;LINK" ${ARGN})
    if(ROOM_SOURCES)
        add_library(assay_${name} STATIC ${ROOM_SOURCES})
        set(scope PUBLIC)
        target_link_libraries(assay_${name} PRIVATE assay_warnings PUBLIC assay_sanitizers)
    else()
        add_library(assay_${name} INTERFACE)
        set(scope INTERFACE)
    endif()
    target_include_directories(assay_${name} ${scope} "${PROJECT_SOURCE_DIR}/harness")
    if(CMAKE_CURRENT_SOURCE_DIR MATCHES "/reports")
        target_include_directories(assay_${name} ${scope} "${PROJECT_SOURCE_DIR}/reports")
    endif()
    target_link_libraries(assay_${name} ${scope} ${ROOM_LINK})
    if(ROOM_SOURCES)
        # Optimised, tests of these, and programs that read and write many results, take half as long; the precompiled
        # headers are for -O0.
        if(ASSAY_SANITIZE AND name MATCHES "^(stats|record|json)$")
            target_compile_options(assay_${name} PRIVATE -O1)
        else()
            target_precompile_headers(assay_${name} REUSE_FROM assay_room_headers)
            target_link_libraries(assay_${name} PRIVATE fmt::fmt) # as the precompiled headers have it
        endif()
        if(NOT ROOM_FAST)
            target_compile_options(assay_${name} PRIVATE ${assay_usual_optimisation})
        endif()
        assay_compile_together(assay_${name})
    endif()
endfunction()

# How a sanitized program treats its memory, whoever starts it.
set(assay_checked_memory "")
if(ASSAY_SANITIZE)
    set(assay_checked_memory "${CMAKE_CURRENT_LIST_DIR}/checked_memory.cpp")
endif()

# assay_program(<name> SOURCES ... LINK ...)
function(assay_program name)
    cmake_parse_arguments(PROGRAM "" "" "SOURCES;LINK" ${ARGN})
    add_executable(${name} ${PROGRAM_SOURCES} ${assay_checked_memory})
    target_link_libraries(${name} PRIVATE assay_warnings assay_sanitizers ${PROGRAM_LINK})
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${name} PRIVATE -fPIC ${assay_usual_optimisation})
    target_precompile_headers(${name} REUSE_FROM assay_room_headers)
    assay_compile_together(${name})
    set(component programs)
    if(NOT name STREQUAL "assay") # that one is part of the package: AssayPackage.cmake
        set(component reports)
        install(TARGETS ${name} RUNTIME DESTINATION bin COMPONENT reports)
    endif()
    # Manual page and completion are what the program says of its own options.
    set(share "${PROJECT_BINARY_DIR}/share")
    foreach(text "--man;man/man1/${name}.1" "--completion bash;bash-completion/completions/${name}"
            "--completion zsh;zsh/site-functions/_${name}" "--completion fish;fish/vendor_completions.d/${name}.fish")
        list(GET text 0 option)
        list(GET text 1 path)
        cmake_path(GET path PARENT_PATH folder)
        file(MAKE_DIRECTORY "${share}/${folder}")
        add_custom_command(TARGET ${name} POST_BUILD VERBATIM
            COMMAND sh -c "\"$<TARGET_FILE:${name}>\" ${option} >\"${share}/${path}\"")
        install(FILES "${share}/${path}" DESTINATION "share/${folder}" COMPONENT ${component})
    endforeach()
endfunction()

# Programs are compiled -fPIE where libraries are -fPIC, and tests with less optimisation.
function(assay_test_headers)
    assay_shared_headers(assay_test_headers <gmock/gmock.h> <gtest/gtest.h> ${assay_templates_of_tests})
    set_target_properties(assay_test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(assay_test_headers PRIVATE -fPIE $<$<CONFIG:Release>:-O1>)
    target_link_libraries(assay_test_headers PRIVATE GTest::gmock)
endfunction()

# What tests look for in their own process, and in the programs that they hand their environment. Clang's OpenMP library
# keeps what it has allocated for its threads.
set(assay_test_environment ASAN_OPTIONS=detect_leaks=1:malloc_context_size=8
    "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/leaks.txt:print_suppressions=0")

# assay_test_program(<name> [AS_BENCHMARKS] [FAST] SOURCES ... LINK ...) is a program in build/*/tests that a test starts.
# AS_BENCHMARKS: with sanitizers where benchmarks have them; FAST: optimised, because it runs for long.
function(assay_test_program name)
    cmake_parse_arguments(PROGRAM "AS_BENCHMARKS;FAST" "" "SOURCES;LINK" ${ARGN})
    set(sanitizers assay_sanitizers)
    if(PROGRAM_AS_BENCHMARKS)
        set(sanitizers assay_benchmark_sanitizers)
    endif()
    add_executable(${name} ${PROGRAM_SOURCES} ${assay_checked_memory})
    target_link_libraries(${name} PRIVATE assay_warnings ${sanitizers} ${PROGRAM_LINK}
        GTest::gmock fmt::fmt) # as the precompiled headers have them
    target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
    # What a test computes is little; optimising its matchers takes longer than running it.
    # GoogleTest's macros say which `if` their `else` belongs to, which g++ does not see inside of a loop.
    target_compile_options(${name} PRIVATE $<$<OR:$<CONFIG:Release>,$<BOOL:${PROGRAM_FAST}>>:-O1>
        $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-dangling-else>)
    if(PROGRAM_LINK MATCHES "OpenMP") # other options of the compiler, other headers
        target_precompile_headers(${name} PRIVATE ${assay_common_headers} <gmock/gmock.h> <gtest/gtest.h>)
    elseif(NOT PROGRAM_AS_BENCHMARKS AND NOT PROGRAM_FAST)
        target_precompile_headers(${name} REUSE_FROM assay_test_headers)
    endif()
    assay_compile_together(${name})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
endfunction()

# assay_test(<name> [AS_BENCHMARKS] [FAST] SOURCES ... LINK ... [LABELS ...] [SERIAL]) is one GoogleTest program, run in four parts that
# take every fourth test each: a process for each test would take longer to start than most tests run. SERIAL
# ones have the machine to themselves. scripts/test counts the tests themselves.
function(assay_test name)
    cmake_parse_arguments(TEST "SERIAL;AS_BENCHMARKS;FAST" "" "SOURCES;LINK;LABELS" ${ARGN})
    set(how "")
    foreach(word AS_BENCHMARKS FAST)
        if(TEST_${word})
            list(APPEND how ${word})
        endif()
    endforeach()
    assay_test_program(${name} ${how} SOURCES ${TEST_SOURCES} LINK ${TEST_LINK} GTest::gtest_main)
    foreach(part RANGE 3)
        add_test(NAME ${name}.${part} COMMAND ${name})
        set_tests_properties(${name}.${part} PROPERTIES TIMEOUT 600 LABELS "${TEST_LABELS}"
            RUN_SERIAL ${TEST_SERIAL}
            ENVIRONMENT "GTEST_TOTAL_SHARDS=4;GTEST_SHARD_INDEX=${part};${assay_test_environment}")
    endforeach()
endfunction()
