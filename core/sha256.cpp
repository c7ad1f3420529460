#include "core/sha256.h"

#include <array>

#include <fmt/core.h>
#include <openssl/evp.h>

#include "core/check.h"

namespace headrace {

std::string sha256_hex(std::string_view data) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  const int done =
      EVP_Digest(data.data(), data.size(), digest.data(), &length, EVP_sha256(), nullptr);
  HEADRACE_CHECK(done == 1, "the library has SHA-256");
  std::string hex;
  for (unsigned int i = 0; i < length; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

}  // namespace headrace
