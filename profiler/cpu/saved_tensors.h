// Which tensors autograd keeps from forward until backward, seen through saved-variable hooks.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include <ATen/core/Tensor.h>

namespace headrace {

/// Collects every storage that is saved for backward on this thread while it exists. One at a time.
/// The graph stays usable: what was saved is handed back unchanged.
class SavedTensors {
 public:
  SavedTensors();
  ~SavedTensors();
  SavedTensors(const SavedTensors&) = delete;
  SavedTensors& operator=(const SavedTensors&) = delete;

  /// Leaves a tensor's storage out, such as a parameter's.
  void exclude(const at::Tensor& tensor);

  void saved(const at::Tensor& tensor);  ///< Called by the hook.

  /// Bytes of all distinct storages but the excluded ones. Views of one storage count it once.
  [[nodiscard]] std::int64_t bytes() const;

 private:
  std::set<const void*> excluded_;
  std::map<const void*, std::int64_t> storages_;
};

/// Must run once before the first `SavedTensors`: puts an engine that asks for the hooks in the
/// place of LibTorch's default one. Backward itself is unchanged.
void install_saved_tensor_hooks();

}  // namespace headrace
