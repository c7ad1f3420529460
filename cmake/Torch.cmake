# LibTorch as our own imported target: find_package(Torch) needs nvcc and a Python even for CPU use.
# HEADRACE_TORCH_ROOT names the folder that holds include/ and lib/ (in a wheel: site-packages/torch).
file(GLOB _headrace_wheels ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch)
list(POP_BACK _headrace_wheels _headrace_wheel)
if(NOT HEADRACE_TORCH_ROOT)
  unset(HEADRACE_TORCH_ROOT CACHE)  # An earlier configure came before the wheel.
endif()
set(HEADRACE_TORCH_ROOT "${_headrace_wheel}" CACHE PATH "LibTorch: the folder with include/ and lib/")
if(NOT HEADRACE_TORCH_ROOT STREQUAL "${HEADRACE_TORCH_SEARCHED}")  # Forget what another root had.
  unset(HEADRACE_TORCH_INCLUDE CACHE)
  unset(HEADRACE_TORCH_C10 CACHE)
  unset(HEADRACE_TORCH_CPU CACHE)
endif()
set(HEADRACE_TORCH_SEARCHED "${HEADRACE_TORCH_ROOT}" CACHE INTERNAL "The root of the last configure")
set(HEADRACE_HAS_TORCH FALSE)

if(NOT HEADRACE_TORCH STREQUAL OFF)
  find_path(HEADRACE_TORCH_INCLUDE torch/csrc/api/include/torch/torch.h
    HINTS ${HEADRACE_TORCH_ROOT}/include NO_DEFAULT_PATH)
  find_library(HEADRACE_TORCH_C10 c10 HINTS ${HEADRACE_TORCH_ROOT}/lib NO_DEFAULT_PATH)
  find_library(HEADRACE_TORCH_CPU torch_cpu HINTS ${HEADRACE_TORCH_ROOT}/lib NO_DEFAULT_PATH)
  mark_as_advanced(HEADRACE_TORCH_INCLUDE HEADRACE_TORCH_C10 HEADRACE_TORCH_CPU)
  if(HEADRACE_TORCH_INCLUDE AND HEADRACE_TORCH_C10 AND HEADRACE_TORCH_CPU)
    set(HEADRACE_HAS_TORCH TRUE)
  endif()
endif()

if(HEADRACE_HAS_TORCH)
  file(STRINGS ${HEADRACE_TORCH_INCLUDE}/torch/headeronly/version.h _headrace_torch_lines
    REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
  string(REGEX REPLACE "[^0-9;]" "" _headrace_torch_numbers "${_headrace_torch_lines}")
  list(JOIN _headrace_torch_numbers "." HEADRACE_TORCH_VERSION)
  message(STATUS "Headrace: LibTorch ${HEADRACE_TORCH_VERSION} at ${HEADRACE_TORCH_ROOT}: building headrace-torch")
  add_library(headrace_torch_cpu INTERFACE)
  target_include_directories(headrace_torch_cpu SYSTEM INTERFACE
    ${PROJECT_SOURCE_DIR}/third_party/gloo_declarations
    ${HEADRACE_TORCH_INCLUDE} ${HEADRACE_TORCH_INCLUDE}/torch/csrc/api/include)
  # The wheel carries fmt's headers, of a newer version than the system's library: its users take
  # the headers alone, so that nothing of one version is linked to the other.
  target_compile_definitions(headrace_torch_cpu INTERFACE
    USE_DISTRIBUTED USE_C10D_GLOO FMT_HEADER_ONLY)
  target_link_libraries(headrace_torch_cpu INTERFACE ${HEADRACE_TORCH_CPU} ${HEADRACE_TORCH_C10})
elseif(HEADRACE_TORCH STREQUAL ON)
  message(FATAL_ERROR
    "HEADRACE_TORCH=ON, but no LibTorch at HEADRACE_TORCH_ROOT='${HEADRACE_TORCH_ROOT}'. Ways out:\n"
    "  1. tools/install_torch.sh                        (puts the pinned wheels into .venv)\n"
    "  2. -DHEADRACE_TORCH_ROOT=/path/to/libtorch       (the folder with include/ and lib/)\n"
    "  3. -DHEADRACE_TORCH=OFF                          (no profiling and no real runs)")
elseif(HEADRACE_TORCH STREQUAL OFF)
  message(STATUS "Headrace: HEADRACE_TORCH=OFF: headrace-torch is not built")
else()
  message(STATUS "Headrace: no LibTorch found: headrace-torch is not built (tools/install_torch.sh installs one)")
endif()
