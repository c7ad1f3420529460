#include "tools/headrace-torch/store_address.h"

#include <charconv>

#include <fmt/core.h>

namespace headrace::worker {

Result<StoreAddress> store_address(const std::string& text) {
  constexpr int kHighestPort = 65535;
  const std::size_t colon = text.rfind(':');
  StoreAddress address{.host = text.substr(0, colon)};
  bool good = colon != std::string::npos && colon > 0;
  if (good) {
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + colon + 1, end, address.port);
    good = read.ec == std::errc{} && read.ptr == end && address.port >= 1 &&
           address.port <= kHighestPort;
  }
  if (good) return address;
  return Failure({.code = ErrorCode::kUsage,
                  .what = fmt::format("'{}' is no address", text),
                  .where = "--store",
                  .fix = "write HOST:PORT, e.g. 127.0.0.1:29500"});
}

}  // namespace headrace::worker
