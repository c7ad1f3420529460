# CUDA headers for the CUPTI code. Nothing links the toolkit: libcuda and libcupti are opened at run
# time, so the same program starts on a machine without a driver.
set(HEADRACE_HAS_CUDA FALSE)
if(NOT HEADRACE_CUDA STREQUAL OFF)
  find_path(HEADRACE_CUPTI_INCLUDE cupti.h
    HINTS $ENV{CUDA_HOME} /usr/local/cuda
    PATH_SUFFIXES include extras/CUPTI/include targets/x86_64-linux/include)
  find_path(HEADRACE_CUDA_INCLUDE cuda.h
    HINTS $ENV{CUDA_HOME} /usr/local/cuda PATH_SUFFIXES include targets/x86_64-linux/include)
  mark_as_advanced(HEADRACE_CUPTI_INCLUDE HEADRACE_CUDA_INCLUDE)
  if(HEADRACE_CUPTI_INCLUDE AND HEADRACE_CUDA_INCLUDE)
    set(HEADRACE_HAS_CUDA TRUE)
  endif()
endif()

if(HEADRACE_HAS_CUDA)
  message(STATUS "Headrace: CUPTI headers at ${HEADRACE_CUPTI_INCLUDE}: building the CUPTI code")
  add_library(headrace_cuda_headers INTERFACE)
  target_include_directories(headrace_cuda_headers SYSTEM INTERFACE
    ${HEADRACE_CUPTI_INCLUDE} ${HEADRACE_CUDA_INCLUDE})
elseif(HEADRACE_CUDA STREQUAL ON)
  message(FATAL_ERROR
    "HEADRACE_CUDA=ON, but cuda.h or cupti.h was not found. Ways out:\n"
    "  1. install the CUDA toolkit 12 or newer with CUPTI\n"
    "  2. CUDA_HOME=/path/to/cuda cmake ...             (the folder with include/)\n"
    "  3. -DHEADRACE_CUDA=OFF                           (no GPU profiling)")
elseif(HEADRACE_CUDA STREQUAL OFF)
  message(STATUS "Headrace: HEADRACE_CUDA=OFF: the CUPTI code is not built")
else()
  message(STATUS "Headrace: no CUDA toolkit found: the CUPTI code is not built")
endif()
