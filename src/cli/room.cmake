target_compile_definitions(strom_cli PRIVATE STROM_VERSION="${PROJECT_VERSION}")
# The tests run the binary itself.
if(STROM_TESTS)
  cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL add_dependencies cli_test strom)
endif()
