# Headers for the CUPTI code: those of the wheel that LibTorch's own libcupti comes from, else of a
# CUDA toolkit. Nothing links either: libcuda and libcupti are opened at run time, so the same
# program starts on a machine without a driver.
set(HEADRACE_HAS_CUDA FALSE)
if(NOT HEADRACE_CUDA STREQUAL OFF)
  find_path(HEADRACE_CUPTI_INCLUDE cupti.h
    HINTS $ENV{CUDA_HOME} ${HEADRACE_TORCH_ROOT}/../nvidia/cu13 /usr/local/cuda
    PATH_SUFFIXES include extras/CUPTI/include targets/x86_64-linux/include)
  find_path(HEADRACE_CUDA_INCLUDE cuda.h
    HINTS ${HEADRACE_CUPTI_INCLUDE} $ENV{CUDA_HOME} /usr/local/cuda
    PATH_SUFFIXES include targets/x86_64-linux/include)
  find_library(HEADRACE_CUPTI_LIBRARY NAMES libcupti.so.13 libcupti.so.12 cupti
    HINTS ${HEADRACE_CUPTI_INCLUDE}/.. PATH_SUFFIXES lib64 lib NO_DEFAULT_PATH)
  mark_as_advanced(HEADRACE_CUPTI_INCLUDE HEADRACE_CUDA_INCLUDE HEADRACE_CUPTI_LIBRARY)
  if(HEADRACE_CUPTI_INCLUDE AND HEADRACE_CUDA_INCLUDE)
    set(HEADRACE_HAS_CUDA TRUE)
  endif()
  set(HEADRACE_CUPTI_FOLDER "")  # Where to look at run time after the system's own search path.
  if(HEADRACE_CUPTI_LIBRARY)
    get_filename_component(HEADRACE_CUPTI_FOLDER ${HEADRACE_CUPTI_LIBRARY} DIRECTORY)
    get_filename_component(HEADRACE_CUPTI_FOLDER ${HEADRACE_CUPTI_FOLDER} REALPATH)
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
    "  1. tools/install_torch.sh                        (its wheels bring the headers)\n"
    "  2. CUDA_HOME=/path/to/cuda cmake ...             (CUDA 12 or newer, with CUPTI)\n"
    "  3. -DHEADRACE_CUDA=OFF                           (no GPU profiling)")
elseif(HEADRACE_CUDA STREQUAL OFF)
  message(STATUS "Headrace: HEADRACE_CUDA=OFF: the CUPTI code is not built")
else()
  message(STATUS "Headrace: no CUPTI headers found: the CUPTI code is not built")
endif()
