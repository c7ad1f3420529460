# Reuses earlier compilations where ccache is installed.
find_program(HEADRACE_CCACHE ccache)
mark_as_advanced(HEADRACE_CCACHE)
if(HEADRACE_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${HEADRACE_CCACHE})
endif()
