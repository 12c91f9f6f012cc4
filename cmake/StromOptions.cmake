# Compilers, warnings, sanitizers and the libraries of Debian 12 that the rooms use.

option(STROM_TESTS "build the unit tests" ON)
option(STROM_FUZZERS "build the fuzz entries (clang only)" OFF)
set(STROM_SANITIZE "" CACHE STRING "sanitizers of the whole build, as -fsanitize takes them: address,undefined or thread")

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(lz4 REQUIRED IMPORTED_TARGET liblz4)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
if(STROM_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
  enable_testing()
endif()

add_library(strom_flags INTERFACE)
target_compile_options(strom_flags INTERFACE -Wall -Wextra -Wconversion -Wno-sign-conversion -Werror
  -fno-omit-frame-pointer)
target_include_directories(strom_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}/generated)
target_compile_definitions(strom_flags INTERFACE SPDLOG_COMPILED_LIB)
# The paths of the machine stay out of the objects, so that a clone in another folder hits the compile cache.
target_compile_options(strom_flags INTERFACE -ffile-prefix-map=${CMAKE_SOURCE_DIR}=. -ffile-prefix-map=${CMAKE_BINARY_DIR}=build)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports members of std::optional and coroutine frames that are never read unset.
  target_compile_options(strom_flags INTERFACE -Wno-maybe-uninitialized -Wno-free-nonheap-object)
endif()
if(STROM_SANITIZE)
  target_compile_options(strom_flags INTERFACE -fsanitize=${STROM_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(strom_flags INTERFACE -fsanitize=${STROM_SANITIZE})
endif()
if(STROM_FUZZERS)
  target_compile_options(strom_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

find_program(STROM_MOLD mold)
if(STROM_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
find_program(STROM_CCACHE ccache)
if(STROM_CCACHE)
  # Paths below the tree are hashed relative to the build folder, and precompiled headers by their content: a clone in
  # another folder hits the cache.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_MAXSIZE=10G CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${STROM_CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(strom_flags INTERFACE -fpch-preprocess)
  else()
    target_compile_options(strom_flags INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endif()
