# The table of configuration keys is made from the files in docs/.
set(STROM_OPTION_ROWS ${CMAKE_BINARY_DIR}/generated/model/option_rows.cc)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/generated/model)
add_custom_command(OUTPUT ${STROM_OPTION_ROWS}
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/generate_options.py ${CMAKE_SOURCE_DIR}/docs ${STROM_OPTION_ROWS}
  DEPENDS ${CMAKE_SOURCE_DIR}/tools/generate_options.py ${CMAKE_SOURCE_DIR}/tools/option_rows.py
    ${CMAKE_SOURCE_DIR}/docs/spec/config.tsv ${CMAKE_SOURCE_DIR}/docs/strom-config.tsv ${CMAKE_SOURCE_DIR}/docs/config-kinds.tsv
  VERBATIM)
target_sources(strom_model PRIVATE ${STROM_OPTION_ROWS})

# The configuration page is committed, for readers; it must be what its generator writes.
if(STROM_TESTS)
  add_test(NAME model_configuration_page_is_current
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/generate_config_page.py --check
      ${CMAKE_SOURCE_DIR}/docs ${CMAKE_SOURCE_DIR}/docs/configuration.md)
  set_tests_properties(model_configuration_page_is_current PROPERTIES LABELS model)
endif()
