# Installs what authors of modules outside this project need: the counter, the program that writes
# manifests, and the CMake functions.
include(CMakePackageConfigHelpers)
set(package_dir lib/cmake/assay)

install(TARGETS assay_counter EXPORT assayTargets FILE_SET HEADERS DESTINATION include)
install(TARGETS assay EXPORT assayTargets RUNTIME DESTINATION bin)
install(EXPORT assayTargets NAMESPACE assay:: DESTINATION "${package_dir}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/scripts/cmake/assayConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/assayConfig.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/assayConfigVersion.cmake"
    COMPATIBILITY SameMajorVersion)
install(FILES "${PROJECT_BINARY_DIR}/assayConfig.cmake" "${PROJECT_BINARY_DIR}/assayConfigVersion.cmake"
    "${PROJECT_SOURCE_DIR}/scripts/cmake/AssayModule.cmake"
    "${PROJECT_SOURCE_DIR}/scripts/cmake/catalogue.cpp.in"
    DESTINATION "${package_dir}")
install(DIRECTORY "${ASSAY_SHARE_DIR}/" DESTINATION share/assay)
