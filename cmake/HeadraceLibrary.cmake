# Flags for every target of ours, and for no third party (nvbench.build_interface does the same).
add_library(headrace_flags INTERFACE)
target_compile_options(headrace_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual -Wdouble-promotion -Wformat=2
  -Wextra-semi
  -Wno-missing-field-initializers)  # designated initialisers name what differs from the defaults
if(HEADRACE_WERROR)
  target_compile_options(headrace_flags INTERFACE -Werror)
endif()

# headrace_add_library(NAME HEADERS ... SOURCES ... [USES public deps] [HIDES private deps])
function(headrace_add_library name)
  cmake_parse_arguments(ARG "" "" "HEADERS;SOURCES;USES;HIDES" ${ARGN})
  add_library(headrace_${name} STATIC ${ARG_SOURCES})
  add_library(headrace::${name} ALIAS headrace_${name})
  target_sources(headrace_${name} PUBLIC FILE_SET HEADERS
    BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${ARG_HEADERS})
  target_compile_features(headrace_${name} PUBLIC cxx_std_20)
  target_link_libraries(headrace_${name}
    PUBLIC ${ARG_USES} PRIVATE ${ARG_HIDES} $<BUILD_INTERFACE:headrace_flags>)
endfunction()

# headrace_add_test(ROOM SOURCES ... [USES deps]): one doctest binary per room; every case is a
# ctest case "ROOM.<case>" labelled with its suite.
function(headrace_add_test room)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES" ${ARGN})
  add_executable(${room}_test ${ARG_SOURCES})
  target_link_libraries(${room}_test PRIVATE ${ARG_USES} headrace_test_main headrace_flags)
  target_compile_features(${room}_test PRIVATE cxx_std_20)
  target_include_directories(${room}_test PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${room}_test PRIVATE HEADRACE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  doctest_discover_tests(${room}_test TEST_PREFIX "${room}." ADD_LABELS 1)
endfunction()

# headrace_unite(TARGET N): compiles N sources of the target as one, so that their heavy headers
# are read once (LibTorch 16 s, nlohmann/json 5 s). HEADRACE_UNITY=OFF for work on one of them.
option(HEADRACE_UNITY "Compile the sources with heavy headers together" ON)
function(headrace_unite target batch)
  if(HEADRACE_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
  endif()
endfunction()
