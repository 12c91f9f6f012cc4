# The table of configuration keys is made from the files in docs/.
set(STROM_OPTION_ROWS ${CMAKE_BINARY_DIR}/generated/model/option_rows.cc)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/generated/model)
add_custom_command(OUTPUT ${STROM_OPTION_ROWS}
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/generate_options.py ${CMAKE_SOURCE_DIR}/docs ${STROM_OPTION_ROWS}
  DEPENDS ${CMAKE_SOURCE_DIR}/tools/generate_options.py ${CMAKE_SOURCE_DIR}/tools/option_rows.py
    ${CMAKE_SOURCE_DIR}/docs/spec/config.tsv ${CMAKE_SOURCE_DIR}/docs/strom-config.tsv ${CMAKE_SOURCE_DIR}/docs/config-kinds.tsv
  VERBATIM)
target_sources(strom_model PRIVATE ${STROM_OPTION_ROWS})
