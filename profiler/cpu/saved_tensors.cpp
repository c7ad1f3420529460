#include "profiler/cpu/saved_tensors.h"

#include <memory>

#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/saved_variable_hooks.h>

#include "core/check.h"

namespace headrace {
namespace {

namespace autograd = torch::autograd;

// The engine is asked for hooks without being told by whom, so the collector is found through the
// thread. Python does the same (torch/csrc/autograd/python_engine.cpp).
SavedTensors*& active() {
  static thread_local SavedTensors* collector = nullptr;
  return collector;
}

class Keep final : public autograd::SavedVariableHooks {
 public:
  void call_pack_hook(const at::Tensor& tensor) override {
    tensor_ = tensor;
    if (active() != nullptr) active()->saved(tensor);
  }
  at::Tensor call_unpack_hook() override { return tensor_; }

 private:
  at::Tensor tensor_;
};

class CountingEngine final : public autograd::Engine {
 public:
  // The base class needs it stopped before its members go.
  ~CountingEngine() override { stop(); }

  std::unique_ptr<autograd::SavedVariableHooks> get_default_saved_variable_hooks() override {
    if (active() == nullptr) return nullptr;
    return std::make_unique<Keep>();
  }

  static autograd::Engine& instance() {
    static CountingEngine engine;
    return engine;
  }
};

}  // namespace

SavedTensors::SavedTensors() {
  HEADRACE_CHECK(active() == nullptr, "one collector at a time on a thread");
  active() = this;
}

SavedTensors::~SavedTensors() {
  active() = nullptr;
}

void SavedTensors::exclude(const at::Tensor& tensor) {
  excluded_.insert(tensor.storage().unsafeGetStorageImpl());
}

void SavedTensors::saved(const at::Tensor& tensor) {
  const auto* storage = tensor.storage().unsafeGetStorageImpl();
  storages_[storage] = static_cast<std::int64_t>(storage->nbytes());
}

std::int64_t SavedTensors::bytes() const {
  std::int64_t total = 0;
  for (const auto& [storage, size] : storages_) {
    if (excluded_.count(storage) == 0) total += size;
  }
  return total;
}

void install_saved_tensor_hooks() {
  autograd::set_default_engine_stub(&CountingEngine::instance);
}

}  // namespace headrace
