// Stages as LibTorch modules on the CPU.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <torch/optim/optimizer.h>

#include "core/result.h"
#include "core/schedule.h"
#include "executor/channel.h"
#include "executor/stage_backend.h"
#include "executor/torch/memory_log.h"
#include "executor/torch/stage_model.h"
#include "executor/torch/stage_shapes.h"
#include "executor/torch/tied_weights.h"
#include "models/torch/split_backward.h"

namespace headrace {

struct TorchBackendOptions {
  std::string optimizer = "sgd";
  double learning_rate = 1e-3;
  bool keep_first_gradients = false;  ///< For the numerics check.
  Seconds timeout{60};
};

/// All stages of one device. Gradients of a micro-batch count 1/M, so that one iteration is one
/// step over the whole batch; they are added to what is there, and zeroed after the step. A
/// micro-batch's graph and boundary tensors are dropped as soon as nobody needs them. Every
/// iteration trains on the same M synthetic micro-batches, made beforehand.
class TorchBackend final : public StageBackend {
 public:
  /// Builds this device's stages and agrees with the other ranks on shapes. Fails as
  /// `build_stage` and `learn_shapes`. To be called, used and destroyed by one thread.
  static Result<std::unique_ptr<TorchBackend>> make(const RunModel& model, const Schedule& schedule,
                                                    Channel& channel,
                                                    const TorchBackendOptions& options);

  Result<std::optional<HeldMemory>> compute(const Action& action) override;
  Result<std::span<std::byte>> buffer(const Action& transfer) override;
  Result<void> hand_over(const Action& send) override;
  void release(const Action& send) override;
  Result<void> finish_iteration() override;

  /// The stages of this device by number.
  [[nodiscard]] const std::map<int, StageModel>& stages() const { return stages_; }
  /// Gradients of the first iteration, in the order of a stage's parameters; empty unless kept.
  [[nodiscard]] const std::map<int, std::vector<torch::Tensor>>& first_gradients() const {
    return first_gradients_;
  }
  /// They are a second copy of all gradients, and would count as the run's memory.
  void forget_first_gradients() { first_gradients_.clear(); }
  /// Mean loss over the first iteration's micro-batches; 0 without the last stage.
  [[nodiscard]] double first_loss() const { return first_loss_; }

 private:
  /// One micro-batch in one stage, from the arrival of its input to the end of its backward.
  struct InFlight {
    torch::Tensor input;                 ///< A leaf; wants a gradient except in stage 0.
    torch::Tensor output;                ///< With the graph; the loss in the last stage.
    torch::Tensor sent_output;           ///< The same memory without the graph, until it is sent.
    torch::Tensor output_gradient;       ///< Received from the next stage.
    torch::Tensor input_gradient;        ///< For the previous stage, until it is sent.
    PendingWeightGradient weights = {};  ///< Between I and W.

    [[nodiscard]] bool is_over() const {
      return !input.defined() && !output.defined() && !sent_output.defined() &&
             !input_gradient.defined() && weights.parameters.empty();
    }
  };

  TorchBackend(const RunModel& model, const Schedule& schedule, Channel& channel,
               TorchBackendOptions options);
  Result<void> build();
  void make_data();
  [[nodiscard]] bool is_last(StageId stage) const;
  InFlight& at(const Action& action);
  void forward(const Action& action);
  void backward(const Action& action);
  void input_gradient_of(const Action& action);
  void weight_gradient_of(const Action& action);
  [[nodiscard]] torch::Tensor output_gradient(const Action& action);
  void keep_first_iteration();

  // The log outlives every tensor it counts, so it comes first.
  MemoryLog memory_;
  RunModel model_;
  Schedule schedule_;
  Channel& channel_;
  TorchBackendOptions options_;
  bool trains_ = true;  ///< The schedule has backwards.
  std::map<int, StageModel> stages_;
  std::map<int, std::vector<torch::Tensor>> parameters_;
  std::map<int, StageShapes> shapes_;
  std::vector<TiedGroup> tied_;
  std::vector<Batch> data_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  std::map<std::pair<int, int>, InFlight> in_flight_;  ///< By stage and micro-batch.
  double loss_ = 0;  ///< Sum over the iteration's micro-batches, each divided by their number.
  bool first_iteration_ = true;
  double first_loss_ = 0;
  std::map<int, std::vector<torch::Tensor>> first_gradients_;
};

}  // namespace headrace
