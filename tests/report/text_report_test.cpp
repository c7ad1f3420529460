// What people read: whole reports, pinned.
#include "report/text_report.h"

#include <doctest/doctest.h>

#include "tests/support/simulation_builders.h"

using namespace headrace;
using headrace::testing::uniform_input;

TEST_SUITE_BEGIN("report/text_report");

TEST_CASE("a simulation shows both bubbles by name and the formula as what it is") {
  const auto run = simulate(uniform_input("1f1b", 4, 8, {.forward = 1e-3, .backward = 2e-3}));
  CHECK(simulation_text(run->report) ==
        R"(1f1b: 4 stages on 4 devices, 8 micro-batches, asynchronous sends
  makespan         first start to last end of compute                      33.0 ms
  bound            no order of these stages on these devices ends sooner   33.0 ms
  iteration        with gradient reduction and optimizer                   33.0 ms
  ideal            busy time of the busiest device                         24.0 ms
  bubble_ratio     mean over devices of 1 - busy / makespan                 27.3 %
  bubble_overhead  makespan / ideal - 1                                     37.5 %
  throughput       micro-batches                                          242.4 /s

Formula (8 micro-batches + 4 stages - 1) x slowest stage: 33.0 ms, +0.0 % of the simulated iteration
What its assumptions leave out:
  equal_stages          +0 s
  schedule              +0 s
  hidden_communication  +0 s
  no_fixed_cost         +0 s

  device     busy  communication     wait     idle  utilisation  peak activations
  0       24.0 ms            0 s  9.00 ms      0 s       72.7 %                 4
  1       24.0 ms            0 s  6.00 ms  3.00 ms       72.7 %                 3
  2       24.0 ms            0 s  3.00 ms  6.00 ms       72.7 %                 2
  3       24.0 ms            0 s      0 s  9.00 ms       72.7 %                 1
)");
}

TEST_CASE("a comparison shows signed errors and what makes the difference") {
  const Comparison comparison{.predicted = Seconds{0.0485},
                              .measured = Seconds{0.050},
                              .relative_error = -0.03,
                              .formula = Seconds{0.060},
                              .formula_error = 0.2,
                              .inside_band = std::nullopt,
                              .noise_floor = 0.004,
                              .per_stage = {{0, Seconds{0.001}, Seconds{0.0011}, Seconds{0.002},
                                             Seconds{0.002}, -0.0909, 0}},
                              .memory = {{0, Bytes{2048}, Bytes{1024}}, {1, Bytes{1024}, {}}},
                              .explanation = {"+1.500 ms  messages between stages"}};
  CHECK(comparison_text(comparison) ==
        R"(             predicted  measured    error
  iteration    48.5 ms   50.0 ms   -3.0 %
  formula      60.0 ms   50.0 ms  +20.0 %
  noise floor of the measurement: +/- 0.4 %

  stage  forward  measured   error  backward  measured   error
  0      1.00 ms   1.10 ms  -9.1 %   2.00 ms   2.00 ms  +0.0 %

  device  peak memory  measured     error
  0          2.00 KiB  1.00 KiB  +100.0 %
  1          1.00 KiB         -         -

What makes the difference, largest first:
  +1.500 ms  messages between stages
)");
}

TEST_CASE("a plan shows its stages and what other cuts would cost") {
  Plan plan{.model = {.name = "toy", .source = "", .parameters = 0},
            .global_batch = 8,
            .micro_batch_size = 2,
            .microbatches = 4};
  plan.stages = {{.devices = {"device0"},
                  .layers = {"a", "b"},
                  .forward = {Seconds{1e-3}},
                  .backward = {Seconds{2e-3}},
                  .output = Bytes{4096},
                  .capacity = Bytes{1 << 20}},
                 {.devices = {"device1"}, .layers = {"c"}, .forward = {}, .backward = {}}};
  plan.bottleneck = Seconds{3e-3};
  plan.bound = Seconds{3e-3};
  plan.exact = true;
  plan.baselines = {{"equal-layers", std::nullopt, Seconds{4e-3}, {1, 2}, "does not fit"}};
  plan.boundaries = {{0, "b", Bytes{4096}, Seconds{1e-3}, std::nullopt}};
  plan.notes = {"stage 0 is the bottleneck"};
  CHECK(plan_text(plan) == R"(toy: 2 stages, 1f1b, 4 micro-batches of 2 (global batch 8)
  stage  device   layers      forward  backward     sends  memory     limit
  0      device0  a .. b (2)  1.00 ms   2.00 ms  4.00 KiB     0 B  1.00 MiB
  1      device1  c               0 s       0 s       0 B     0 B      none

  bottleneck  forward + backward of the slowest stage  3.00 ms
  bound       no plan's iteration-time is below        3.00 ms
  gap         above the bound; proven optimal            0.0 %

  default split  layers per stage  bottleneck  iteration
  equal-layers   1 2                  4.00 ms          -  does not fit

  cut after     sends  one layer earlier  one layer later
  b          4.00 KiB           +1.00 ms                -

- stage 0 is the bottleneck
)");
}

TEST_CASE("a profile lists its layers and their origin") {
  const auto graph = ModelGraph::build({{.id = "a",
                                         .kind = "linear",
                                         .forward = {Seconds{1e-3}, Seconds{1e-5}},
                                         .backward = {Seconds{2e-3}},
                                         .parameters = Bytes{1024},
                                         .origin = Origin::kMeasured},
                                        {.id = "b",
                                         .kind = "linear",
                                         .forward = {Seconds{1e-3}},
                                         .backward = {Seconds{2e-3}},
                                         .same_as = "a"}},
                                       {});
  Profile profile{.model = {.name = "toy", .source = "", .parameters = 256},
                  .device = {.kind = "cpu", .name = "a core"}};
  profile.graph = *graph;
  CHECK(profile_text(profile) == R"(toy: 2 layers, 256 parameters
device: cpu (a core), fp32, micro-batch of 1
  layer  kind    forward  backward  input grad  weight grad  spread     state  saved  output    origin
  a      linear  1.00 ms   2.00 ms           -            -   1.0 %  1.00 KiB    0 B     0 B  measured
  b      linear  1.00 ms   2.00 ms           -            -   0.0 %       0 B    0 B     0 B      as a
  total          2.00 ms   4.00 ms                                   1.00 KiB    0 B
)");
}
