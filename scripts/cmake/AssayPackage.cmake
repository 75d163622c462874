# Installs what authors of modules outside this project need: the counter, the program that writes
# manifests, and the CMake functions. Components, for who wants less: programs, reports, module_<name>, gpu_check, development.
include(CMakePackageConfigHelpers)
set(package_dir lib/cmake/assay)

install(TARGETS assay_counter EXPORT assayTargets FILE_SET HEADERS DESTINATION include
    COMPONENT development)
install(TARGETS assay EXPORT assayTargets RUNTIME DESTINATION bin COMPONENT programs)
install(EXPORT assayTargets NAMESPACE assay:: DESTINATION "${package_dir}" COMPONENT development)
configure_package_config_file("${PROJECT_SOURCE_DIR}/scripts/cmake/assayConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/assayConfig.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/assayConfigVersion.cmake"
    COMPATIBILITY SameMajorVersion)
install(FILES "${PROJECT_BINARY_DIR}/assayConfig.cmake" "${PROJECT_BINARY_DIR}/assayConfigVersion.cmake"
    "${PROJECT_SOURCE_DIR}/scripts/cmake/AssayModule.cmake"
    "${PROJECT_SOURCE_DIR}/scripts/cmake/catalogue.cpp.in"
    DESTINATION "${package_dir}" COMPONENT development)
# What only reports read is left out where only the programs go: the package for a lent GPU has 20 MB.
set(of_reports "/share/assay/((page|limits|offers|profiles)/.*|hardware/(instances-.*|providers)\\.json)$")
install(DIRECTORY "${ASSAY_SHARE_DIR}/" DESTINATION share/assay COMPONENT programs REGEX "${of_reports}" EXCLUDE)
install(DIRECTORY "${ASSAY_SHARE_DIR}/" DESTINATION share/assay COMPONENT reports FILES_MATCHING REGEX "${of_reports}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/benchmarks/examples" DESTINATION share/assay COMPONENT development)
