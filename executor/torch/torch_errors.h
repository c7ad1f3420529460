// Exceptions of LibTorch end here, as errors.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "core/result.h"

namespace headrace {

/// The first line of LibTorch's message; the rest is its stack.
Error torch_error(std::string_view doing, std::string_view message);

/// Runs `body`, which returns a Result, and turns what LibTorch throws into an error. `doing` says
/// what was going on: "rank 1: 2F5".
template <typename Body>
auto without_exceptions(std::string_view doing, const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Failure(torch_error(doing, "can't allocate memory"));
  } catch (const std::exception& thrown) {
    return Failure(torch_error(doing, thrown.what()));
  }
}

}  // namespace headrace
