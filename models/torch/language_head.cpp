// The head over the vocabulary that the language models share.
#include "models/settings.h"
#include "models/torch/torch_families.h"

namespace headrace {
namespace {

class LanguageHead final : public ParameterLayer {
 public:
  LanguageHead(const ModelSpec& spec, const LayerPlace& place)
      : ParameterLayer(place.dtype),
        weight_(parameter("weight", {size_of(spec, "vocab_size"), size_of(spec, "hidden_size")})),
        tied_(flag_of(spec, "tie_embeddings")) {}

  torch::Tensor forward(torch::Tensor x) override { return at::linear(x, weight_); }
  [[nodiscard]] torch::Tensor tied_weight() const override {
    return tied_ ? weight_ : torch::Tensor();
  }

 private:
  torch::Tensor weight_;
  bool tied_;
};

}  // namespace

std::shared_ptr<LayerModule> make_language_head(const ModelSpec& spec, const LayerPlace& place) {
  return std::make_shared<LanguageHead>(spec, place);
}

}  // namespace headrace
