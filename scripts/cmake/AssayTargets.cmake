# assay_room(<name> [SOURCES ...] [LINK ...]) makes one room of the project a static library
# `assay_<name>`, with the warnings and sanitizers that every part of the project is built with.
# Rooms are included by their path from harness/ or reports/: #include "record/model.hpp".

find_package(Threads REQUIRED)

add_library(assay_warnings INTERFACE)
target_compile_options(assay_warnings INTERFACE
    # Designated initialisers leave out members on purpose.
    $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wshadow;-Werror;-Wno-missing-field-initializers>)

# Sanitizers cover the programs and the tests. Modules of benchmarks are built with them too, but
# optimised: a sanitized -O0 kernel would take minutes.
add_library(assay_sanitizers INTERFACE)
if(ASSAY_SANITIZE)
    target_compile_options(assay_sanitizers INTERFACE
        -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
    target_link_options(assay_sanitizers INTERFACE -fsanitize=address,undefined)
endif()
if(ASSAY_FUZZ)
    target_compile_options(assay_sanitizers INTERFACE -fsanitize=fuzzer-no-link,address,undefined)
    target_link_options(assay_sanitizers INTERFACE -fsanitize=address,undefined)
endif()

function(assay_room name)
    cmake_parse_arguments(ROOM "" "" "SOURCES;LINK" ${ARGN})
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
endfunction()

# assay_program(<name> SOURCES ... LINK ...)
function(assay_program name)
    cmake_parse_arguments(PROGRAM "" "" "SOURCES;LINK" ${ARGN})
    add_executable(${name} ${PROGRAM_SOURCES})
    target_link_libraries(${name} PRIVATE assay_warnings assay_sanitizers ${PROGRAM_LINK})
    if(NOT name STREQUAL "assay") # that one is part of the package: AssayPackage.cmake
        install(TARGETS ${name} RUNTIME DESTINATION bin)
    endif()
endfunction()

# assay_test(<name> SOURCES ... LINK ... [LABELS ...] [SERIAL]) is one GoogleTest program and one ctest
# entry for each of its tests; SERIAL ones have the machine to themselves.
function(assay_test name)
    cmake_parse_arguments(TEST "SERIAL" "" "SOURCES;LINK;LABELS" ${ARGN})
    add_executable(${name} ${TEST_SOURCES})
    target_link_libraries(${name} PRIVATE assay_warnings assay_sanitizers ${TEST_LINK}
        GTest::gmock GTest::gtest_main)
    # What a test computes is little; optimising its matchers takes longer than running it.
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
    set(serial "")
    if(TEST_SERIAL)
        set(serial RUN_SERIAL ON)
    endif()
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 120 LABELS "${TEST_LABELS}" ${serial})
endfunction()
