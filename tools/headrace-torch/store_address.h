// HOST:PORT, where ranks meet.
#pragma once

#include <string>

#include "core/result.h"

namespace headrace::worker {

struct StoreAddress {
  std::string host;
  int port = 0;
};

/// Reads "127.0.0.1:29500". Fails with kUsage naming --store.
Result<StoreAddress> store_address(const std::string& text);

}  // namespace headrace::worker
