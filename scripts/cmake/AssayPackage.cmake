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
# For clusters: sweep, health check, manifests.
foreach(recipe slurm kubernetes containers cloud-init reframe)
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/scripts/${recipe}" DESTINATION share/assay/cluster COMPONENT reports USE_SOURCE_PERMISSIONS)
endforeach()
install(PROGRAMS "${PROJECT_SOURCE_DIR}/scripts/sweep" DESTINATION share/assay/cluster COMPONENT reports)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/benchmarks/examples" DESTINATION share/assay COMPONENT development)

# Where their links lead.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION share/assay COMPONENT reports)
install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/llms.txt" DESTINATION share/assay COMPONENT reports)

# cpack: an archive and a Debian package of programs, reports and the modules of the host; scripts/package --cpack. The
# same build tree gives the same bytes where SOURCE_DATE_EPOCH is set: entries are in order and all of that time.
set(CPACK_PACKAGE_NAME assay)
set(CPACK_PACKAGE_VENDOR assay)
set(CPACK_PACKAGE_CONTACT "assay <assay@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "HPC benchmarks and hardware characterisation")
set(CPACK_PACKAGE_FILE_NAME "assay-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_COMPONENTS_ALL programs reports)
foreach(module IN ITEMS host openblas onednn fftw mpi ucx ofi external)
    if(TARGET assay_module_${module})
        list(APPEND CPACK_COMPONENTS_ALL module_${module})
    endif()
endforeach()
set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_SOURCE_DIR}/scripts/cmake/AssayArchive.cmake")
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
find_program(ASSAY_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(ASSAY_SHLIBDEPS)
if(CMAKE_CROSSCOMPILING)
    string(REPLACE aarch64 arm64 CPACK_DEBIAN_PACKAGE_ARCHITECTURE "${CMAKE_SYSTEM_PROCESSOR}")
elseif(ASSAY_SHLIBDEPS)
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON) # of the system that it is built on; of a sysroot: scripts/package
endif()
if(TARGET assay_module_mpi)
    set(CPACK_DEBIAN_PACKAGE_RECOMMENDS openmpi-bin) # mpirun, for modules mpi, ucx and ofi
endif()
include(CPack)
