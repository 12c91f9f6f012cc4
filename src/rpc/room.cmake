# The message structs and their codec, made from the protocol's field list at build time.
set(rpc_generated ${CMAKE_BINARY_DIR}/generated/rpc)
set(rpc_generated_files ${rpc_generated}/messages.h ${rpc_generated}/messages_1.cc ${rpc_generated}/messages_2.cc
  ${rpc_generated}/messages_3.cc ${rpc_generated}/messages_4.cc ${rpc_generated}/message_registry_data.cc)
add_custom_command(
  OUTPUT ${rpc_generated_files}
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/generate_messages.py ${CMAKE_SOURCE_DIR}/docs/spec/messages.tsv
    ${rpc_generated}
  DEPENDS ${CMAKE_SOURCE_DIR}/tools/generate_messages.py ${CMAKE_SOURCE_DIR}/docs/spec/messages.tsv
  COMMENT "rpc: messages from docs/spec/messages.tsv"
  VERBATIM)
target_sources(strom_rpc PRIVATE ${rpc_generated_files})

# libprotobuf is the referee of the codec, in tests only. The test program is made after this file is read, so the link waits.
if(STROM_TESTS)
  find_package(Protobuf REQUIRED)
  cmake_language(DEFER CALL target_link_libraries rpc_test PRIVATE protobuf::libprotobuf)
endif()
