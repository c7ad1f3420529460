#include "models/torch/split_backward.h"

#include <deque>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>

namespace headrace {
namespace {

namespace autograd = torch::autograd;
using NodePointer = std::shared_ptr<autograd::Node>;

// The graph below an output, and who uses whose result. Only `order` is ever iterated, so that the
// halves do the same work in the same order every time.
struct Graph {
  std::vector<NodePointer> order;  // Breadth first from the output.
  std::unordered_map<const autograd::Node*, std::vector<autograd::Node*>> users;
};

using NodeSet = std::unordered_set<const autograd::Node*>;

Graph explore(const NodePointer& output) {
  Graph graph{.order = {output}, .users = {}};
  NodeSet seen{output.get()};
  for (std::size_t next = 0; next < graph.order.size(); ++next) {
    const NodePointer node = graph.order[next];
    for (const autograd::Edge& edge : node->next_edges()) {
      if (!edge.is_valid()) continue;
      graph.users[edge.function.get()].push_back(node.get());
      if (seen.insert(edge.function.get()).second) graph.order.push_back(edge.function);
    }
  }
  return graph;
}

// Every node between the input and the output, the input's own included.
NodeSet nodes_above(const Graph& graph, const autograd::Node* input) {
  NodeSet path{input};
  std::deque<const autograd::Node*> waiting{input};
  while (!waiting.empty()) {
    const auto users = graph.users.find(waiting.front());
    waiting.pop_front();
    if (users == graph.users.end()) continue;
    for (const autograd::Node* user : users->second) {
      if (path.insert(user).second) waiting.push_back(user);
    }
  }
  return path;
}

// The first nodes of the path that are met when climbing from the parameters: there the weights'
// gradients branch off.
NodeSet split_nodes(const Graph& graph, const NodeSet& path,
                    const autograd::edge_list& parameters) {
  NodeSet split;
  NodeSet seen;
  std::deque<const autograd::Node*> waiting;
  for (const autograd::Edge& edge : parameters) waiting.push_back(edge.function.get());
  while (!waiting.empty()) {
    const auto users = graph.users.find(waiting.front());
    waiting.pop_front();
    if (users == graph.users.end()) continue;
    for (const autograd::Node* user : users->second) {
      if (path.count(user) > 0) {
        split.insert(user);
      } else if (seen.insert(user).second) {
        waiting.push_back(user);
      }
    }
  }
  return split;
}

// Remembers the gradients that enter a node.
class Stash final : public autograd::FunctionPreHook {
 public:
  explicit Stash(autograd::variable_list& into) : into_(into) {}
  autograd::variable_list operator()(const autograd::variable_list& gradients) override {
    into_ = gradients;
    return gradients;
  }

 private:
  autograd::variable_list& into_;
};

// Puts a stash in front of each node, and takes it away again whatever happens.
class Stashes {
 public:
  explicit Stashes(std::vector<NodePointer> nodes)
      : nodes_(std::move(nodes)), gradients_(nodes_.size()) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      nodes_[i]->add_pre_hook(std::make_unique<Stash>(gradients_[i]));
    }
  }
  ~Stashes() {
    for (const NodePointer& node : nodes_) node->pre_hooks().pop_back();
  }
  Stashes(const Stashes&) = delete;
  Stashes& operator=(const Stashes&) = delete;

  void move_into(PendingWeightGradient& pending) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      for (std::size_t k = 0; k < gradients_[i].size(); ++k) {
        if (!gradients_[i][k].defined()) continue;
        pending.roots.emplace_back(nodes_[i], static_cast<std::uint32_t>(k));
        pending.gradients.push_back(std::move(gradients_[i][k]));
      }
    }
  }

 private:
  std::vector<NodePointer> nodes_;
  std::vector<autograd::variable_list> gradients_;
};

// Edges from a split node back into the path would make W run the whole chain again. Saved
// variables keep the graph alive through their own grad_fn, so cutting alone frees nothing.
void cut_and_release(const Graph& graph, const NodeSet& path, const NodeSet& split) {
  for (const NodePointer& node : graph.order) {
    if (path.count(node.get()) == 0) continue;
    if (split.count(node.get()) == 0) {
      node->release_variables();
      continue;
    }
    for (autograd::Edge& edge : node->next_edges()) {
      if (edge.is_valid() && path.count(edge.function.get()) > 0) edge = autograd::Edge();
    }
  }
}

autograd::edge_list edges_of(std::span<const at::Tensor> parameters) {
  autograd::edge_list edges;
  for (const at::Tensor& parameter : parameters) {
    if (parameter.requires_grad()) edges.push_back(autograd::impl::gradient_edge(parameter));
  }
  return edges;
}

}  // namespace

InputGradient input_gradient(const at::Tensor& output, const at::Tensor& output_gradient,
                             const at::Tensor& input, std::span<const at::Tensor> parameters) {
  const autograd::Edge root = autograd::impl::gradient_edge(output);
  const at::Tensor gradient = output_gradient.defined() ? output_gradient : at::ones_like(output);
  InputGradient result;
  result.pending.parameters = edges_of(parameters);
  if (!input.requires_grad()) {
    result.pending.roots = {root};
    result.pending.gradients = {gradient};
    return result;
  }

  const autograd::Edge input_edge = autograd::impl::gradient_edge(input);
  const Graph graph = explore(root.function);
  const NodeSet path = nodes_above(graph, input_edge.function.get());
  const NodeSet split = split_nodes(graph, path, result.pending.parameters);
  std::vector<NodePointer> stashed;
  for (const NodePointer& node : graph.order) {
    if (split.count(node.get()) > 0) stashed.push_back(node);
  }
  Stashes stashes(std::move(stashed));
  auto gradients = autograd::Engine::get_default_engine().execute(
      {root}, {gradient}, /*keep_graph=*/true, /*create_graph=*/false,
      /*accumulate_grad=*/false, {input_edge});
  result.input_gradient = std::move(gradients.front());
  cut_and_release(graph, path, split);
  stashes.move_into(result.pending);
  return result;
}

void weight_gradient(PendingWeightGradient pending) {
  if (pending.parameters.empty() || pending.roots.empty()) return;
  autograd::Engine::get_default_engine().execute(pending.roots, pending.gradients,
                                                 /*keep_graph=*/false, /*create_graph=*/false,
                                                 /*accumulate_grad=*/true, pending.parameters);
}

}  // namespace headrace
