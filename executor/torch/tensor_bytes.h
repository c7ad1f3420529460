// Contiguous CPU tensors as raw bytes, for channels.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include <ATen/core/Tensor.h>
#include <fmt/core.h>

#include "core/check.h"
#include "core/result.h"

namespace headrace {

/// The tensor's own memory. It must be contiguous.
inline std::span<std::byte> bytes_of(const at::Tensor& tensor) {
  HEADRACE_CHECK(tensor.is_contiguous(), "only contiguous tensors travel");
  return {static_cast<std::byte*>(tensor.data_ptr()), tensor.nbytes()};
}

/// Overwrites the tensor. Fails with kInternal when the sizes differ.
inline Result<void> copy_bytes(std::span<const std::byte> from, const at::Tensor& into) {
  const std::span<std::byte> target = bytes_of(into);
  if (from.size() != target.size()) {
    return Failure(
        {.code = ErrorCode::kInternal,
         .what = fmt::format("{} bytes came for a tensor of {}", from.size(), target.size()),
         .where = "tensor exchange",
         .fix = "use the same headrace-torch and plan on all ranks"});
  }
  std::memcpy(target.data(), from.data(), from.size());
  return {};
}

}  // namespace headrace
