#include <doctest/doctest.h>

#include "core/comparison.h"
#include "core/duration.h"
#include "core/result.h"
#include "core/sha256.h"
#include "core/timeline.h"
#include "tests/support/builders.h"

namespace headrace {
namespace {

using testing::seconds;

TEST_SUITE_BEGIN("core/duration");

TEST_CASE("means add and variances add and samples are dropped") {
  const Duration a{.mean = Seconds(1), .stddev = Seconds(3), .samples = seconds({1, 1})};
  const Duration b{.mean = Seconds(2), .stddev = Seconds(4)};
  CHECK(a + b == Duration{.mean = Seconds(3), .stddev = Seconds(5)});
}

TEST_CASE("a summary has the sample standard deviation") {
  const Duration time = summarize(seconds({2, 4, 4, 4, 5, 5, 7, 9}));
  CHECK(time.mean == Seconds(5));
  CHECK(time.stddev.value() == doctest::Approx(2.1380899353));
  CHECK(time.samples.size() == 8);
}

TEST_CASE("one sample has no spread") {
  CHECK(summarize(seconds({3})) ==
        Duration{.mean = Seconds(3), .stddev = Seconds(0), .samples = seconds({3})});
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("core/comparison");

TEST_CASE("a prediction that is too low has a negative error") {
  CHECK(relative_error(Seconds(9), Seconds(10)) == doctest::Approx(-0.1));
  CHECK(relative_error(Seconds(11), Seconds(10)) == doctest::Approx(0.1));
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("core/timeline");

TEST_CASE("the makespan is from first to last compute action") {
  Timeline timeline;
  CHECK(makespan_of(timeline) == Seconds(0));
  timeline.events = {{.action = {.kind = ActionKind::kRecvForward}, .end = Seconds(9)},
                     {.start = Seconds(3), .end = Seconds(5)},
                     {.start = Seconds(2), .end = Seconds(4)},
                     {.action = {.kind = ActionKind::kReduceGrad}, .end = Seconds(50)}};
  CHECK(makespan_of(timeline) == Seconds(3));
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("core/sha256");

TEST_CASE("digests are those of sha256sum") {
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("core/result");

TEST_CASE("an error is told in one block with why and cycle between") {
  CHECK(to_string(Error{.code = ErrorCode::kDeadlock,
                        .what = "stuck",
                        .where = "s.csv",
                        .fix = "swap",
                        .why = "both wait",
                        .cycle = {{0, "0B0", "1B0"}, {1, "1F1", "0F1"}}}) ==
        "s.csv: stuck\n  why: both wait\n  device 0: 0B0 waits for 1B0\n"
        "  device 1: 1F1 waits for 0F1\n  fix: swap");
}

TEST_CASE("every code has its exit status and name") {
  CHECK(exit_status(ErrorCode::kInternal) == 1);
  CHECK(exit_status(ErrorCode::kUsage) == 2);
  CHECK(exit_status(ErrorCode::kBadInput) == 3);
  CHECK(exit_status(ErrorCode::kInfeasible) == 4);
  CHECK(exit_status(ErrorCode::kMismatch) == 5);
  CHECK(exit_status(ErrorCode::kDeadlock) == 6);
  CHECK(exit_status(ErrorCode::kTimeout) == 6);
  CHECK(exit_status(ErrorCode::kUnavailable) == 7);
  CHECK(exit_status(ErrorCode::kInterrupted) == 130);
  CHECK(name_of(ErrorCode::kBadInput) == "bad-input");
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
