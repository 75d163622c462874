# Installs the packages of package-lock.json where that was not done yet, and bundles the page. Packages go
# into the build folder, and none of their install scripts is run. Without a network there is no page, which is said
# and is no error; the next build tries again.
set(installed "${BINARY}/installed")
file(SHA256 "${SOURCE}/package-lock.json" lock)
set(wanted "${lock} ${PACKAGES}")
set(found "")
if(EXISTS "${installed}")
    file(READ "${installed}" found)
endif()
file(COPY "${SOURCE}/package.json" "${SOURCE}/package-lock.json" "${SOURCE}/build.mjs" DESTINATION "${BINARY}")
if(NOT found STREQUAL wanted)
    file(REMOVE "${installed}")
    execute_process(
        COMMAND "${NPM}" ci ${PACKAGES} --ignore-scripts --no-audit --no-fund --no-update-notifier
                --fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-timeout=30000
        WORKING_DIRECTORY "${BINARY}" RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(failed)
        file(REMOVE "${PAGE}") # one of another version would not fit
        message("${said}\nnpm could not install what the interactive page is made of: ${WITHOUT}")
        return()
    endif()
    file(WRITE "${installed}" "${wanted}")
endif()
get_filename_component(out "${PAGE}" DIRECTORY)
execute_process(COMMAND "${NODE}" "${BINARY}/build.mjs" "${SOURCE}" "${out}" RESULT_VARIABLE failed)
if(failed)
    file(REMOVE "${PAGE}")
    message(FATAL_ERROR "the interactive page could not be bundled")
endif()
