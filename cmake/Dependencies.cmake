# Every third party but LibTorch and CUDA, found once, at the root: an imported target is invisible
# to siblings otherwise. tools/install_packages.sh installs them.
find_package(Boost 1.74 REQUIRED)           # Boost.Graph is headers only
find_package(CLI11 REQUIRED)
find_package(doctest REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)
find_package(fmt REQUIRED)
find_package(nlohmann_json 3.10 REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(Threads REQUIRED)
find_package(tl-expected REQUIRED)
if(HEADRACE_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
