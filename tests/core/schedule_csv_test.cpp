#include "core/schedule_csv.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "core/files.h"

namespace headrace {
namespace {

const std::string kData = std::string(HEADRACE_SOURCE_DIR) + "/tests/data/schedules/";

/// 1F1B on two ranks with four micro-batches; blank cells are idle steps.
constexpr std::string_view kWithBlanks =
    "0F0,,,0F1,0B0,0F2,0B1,0F3,0B2,,0B3\n"
    "1F0,1B0,1F1,1B1,1F2,1B2,1F3,1B3\n";
constexpr std::string_view kWithoutBlanks =
    "0F0,0F1,0B0,0F2,0B1,0F3,0B2,0B3\n"
    "1F0,1B0,1F1,1B1,1F2,1B2,1F3,1B3\n";

std::string problem(std::string_view text, CsvDialect dialect = CsvDialect::kTorch26) {
  const auto schedule = schedule_from_csv(text, "s.csv", dialect);
  if (schedule.has_value()) return "valid";
  CHECK(schedule.error().code == ErrorCode::kBadInput);
  CHECK_FALSE(schedule.error().fix.empty());
  return schedule.error().where + ": " + schedule.error().what;
}

Schedule from_file(const std::string& name, CsvDialect dialect = CsvDialect::kTorch26) {
  const auto text = read_text(kData + name);
  REQUIRE(text.has_value());
  const auto schedule = schedule_from_csv(*text, name, dialect);
  REQUIRE_MESSAGE(schedule.has_value(), to_string(schedule.error()));
  return *schedule;
}

TEST_SUITE_BEGIN("core/schedule_csv");

TEST_CASE("blank cells are idle steps and change nothing") {
  const auto blanks = schedule_from_csv(kWithBlanks, "s.csv");
  const auto none = schedule_from_csv(kWithoutBlanks, "s.csv");
  REQUIRE(blanks.has_value());
  REQUIRE(none.has_value());
  CHECK(*blanks == *none);
  CHECK(to_csv(*blanks) == kWithoutBlanks);
  CHECK(blanks->stages == 2);
  CHECK(blanks->devices == 2);
  CHECK(blanks->microbatches == 4);
  CHECK(blanks->device_of_stage == std::vector<DeviceId>{DeviceId{0}, DeviceId{1}});
}

TEST_CASE("spaces and Windows line ends and a missing last newline are read over") {
  CHECK(problem("0F0, 0B0\r\n1F0 ,\t1B0\r\n\r\n") == "valid");
  CHECK(problem("0F0,0B0\n1F0,1B0") == "valid");
}

TEST_CASE("a backward before its forward is refused with rank and step") {
  CHECK(problem("0F0,0B0\n1B0,1F0\n") == "s.csv: rank 1 step 0: 1B0 comes before its forward");
}

TEST_CASE("a missing micro-batch is named") {
  CHECK(problem("0F0,0F1,0B0,0B1\n1F0,1B0\n") == "s.csv: rank 1: 1F1 is missing");
  CHECK(problem("0F0,0F1\n1F0\n") == "s.csv: rank 1: 1F1 is missing");
  CHECK(problem("0F1,0B1\n") == "s.csv: rank 0: 0F0 is missing");
}

TEST_CASE("as many weight gradients as input gradients are needed") {
  CHECK(problem("0F0,0F1,0I0,0W0,0I1\n") == "s.csv: rank 0: 0W1 is missing");
  CHECK(problem("0F0,0F1,0I0,0W0,0W1\n") == "s.csv: rank 0 step 4: 0W1 comes before its I");
}

TEST_CASE("one stage in two rows is refused") {
  CHECK(problem("0F0,0B0\n1F0,0F1,1B0,0B1\n") ==
        "s.csv: rank 1 step 1: 0F1: stage 0 is on two ranks, also on rank 0");
}

TEST_CASE("unknown tokens and trailing junk are refused with rank and step") {
  CHECK(problem("0F0,0X1\n") == "s.csv: rank 0 step 1: '0X1' is no action");
  CHECK(problem("0F0,0B0\n1F0,2F0x\n") == "s.csv: rank 1 step 1: '2F0x' is no action");
  CHECK(problem("0F0,0BW0\n") == "s.csv: rank 0 step 1: '0BW0' is no action");
}

TEST_CASE("a send or receive among idle steps is refused") {
  CHECK(problem("0F0,0SEND_F0,,0B0\n1RECV_F0,1F0,1B0\n") ==
        "s.csv: rank 0 step 2: a blank cell in a file with sends and receives");
  CHECK(problem("0F0,0SEND_F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n") ==
        "s.csv: rank 1 step 0: 1F0 has no 1RECV_F0");
}

TEST_CASE("an overlap of two actions is two actions that start together") {
  const auto schedule = schedule_from_csv("0F0,(1F0;0B0)OVERLAP_F_B,1B0\n", "s.csv");
  REQUIRE(schedule.has_value());
  CHECK(schedule->rows[0][1].overlaps_next);
  CHECK(to_csv(*schedule) == "0F0,(1F0;0B0)OVERLAP_F_B,1B0\n");
}

TEST_CASE("what is no overlap of two compute actions is refused") {
  for (const std::string_view cell :
       {"(0F0;0B0)", "(0F0)OVERLAP_F_B", "(0F0;0B0;0F1)OVERLAP_F_B", "(0F0;0B0)OVERLAP_F_Bx",
        "()OVERLAP_F_B", "(", "(;)", "(0F0;)OVERLAP_F_B", ")OVERLAP_F_B",
        "(0F0;0SEND_F0)OVERLAP_F_B", "((0F0;0B0)OVERLAP_F_B;0F1)OVERLAP_F_B"}) {
    CAPTURE(cell);
    CHECK(problem(std::string(cell) + ",0F9\n").starts_with("s.csv: rank 0 step 0: '"));
  }
}

TEST_CASE("an empty file has no action") {
  for (const std::string_view text : {"", "\n\n", ",,\n,\n"}) {
    CHECK(problem(text) == "s.csv: no action in the file");
  }
}

TEST_CASE("a gap in the stages is refused") {
  CHECK(problem("0F0,0B0\n2F0,2B0\n") == "s.csv: stage 1 appears in no row, stage 2 does");
}

TEST_CASE("huge numbers ask for no memory") {
  CHECK(problem("999999999F0\n").starts_with("s.csv: stage 999999999 with only 1 actions"));
  CHECK(problem("0F2147483647\n").starts_with("s.csv: micro-batch 2147483647 with only 1 actions"));
  CHECK(problem("0F0,30F30\n").starts_with("s.csv: stage and micro-batch up to 30 with only 2"));
}

TEST_CASE("the dialect decides what B means and is never guessed") {
  constexpr std::string_view kOld = "0F0,0F1,0B0,0W0,0BW1\n";
  const auto old = schedule_from_csv(kOld, "s.csv", CsvDialect::kTorch25);
  REQUIRE(old.has_value());
  CHECK(to_csv(*old) == "0F0,0F1,0I0,0W0,0B1\n");
  CHECK(problem(kOld) == "s.csv: rank 0 step 4: '0BW1' is no action");
  CHECK(problem("0F0,0I0,0W0\n", CsvDialect::kTorch25) ==
        "s.csv: rank 0 step 1: '0I0' is no action");
  CHECK(problem("0F0,0B0\n", CsvDialect::kTorch25) == "s.csv: rank 0: 0W0 is missing");
}

TEST_CASE("the artifacts of torch read in their dialects") {
  const Schedule compute =
      from_file("pytorch/zb1p_2rank_2stagep_compute.csv", CsvDialect::kTorch25);
  CHECK(compute.stages == 4);
  CHECK(compute.devices == 2);
  CHECK(compute.microbatches == 8);
  CHECK(splits_backward(compute));
  const Schedule lowered = from_file("pytorch/zb1p_2rank_2stagep_comms.csv", CsvDialect::kTorch25);
  CHECK(has_communication(lowered));
  const Schedule dual = from_file("pytorch/dualpipev_4rank_10mb.csv");
  CHECK(dual.stages == 8);
  CHECK(dual.microbatches == 10);
  CHECK(dual.device_of_stage[7] == DeviceId{0});
}

TEST_CASE("what torch lowered reads back equal") {
  for (const char* name : {"Interleaved1F1B_p2_m4_v2", "DualPipeV_p2_m4_v2"}) {
    const Schedule schedule = from_file(std::string("pytorch/") + name + ".comms.csv");
    CHECK(has_communication(schedule));
    CHECK(schedule_from_csv(to_csv(schedule), "again").value() == schedule);
  }
}

/// The CSV text of every schedule in a file of golden lines: what stands in "rows":["…","…"].
std::vector<std::string> golden_csvs(std::string_view lines) {
  constexpr std::string_view kKey = "\"rows\":[";
  std::vector<std::string> texts;
  for (std::size_t at = lines.find(kKey); at != std::string_view::npos; at = lines.find(kKey, at)) {
    at += kKey.size();
    std::string& text = texts.emplace_back();
    bool in_row = false;
    for (const char c : lines.substr(at, lines.find(']', at) - at)) {
      if (c == '"') {
        in_row = !in_row;
        if (!in_row) text += '\n';
      } else if (in_row) {
        text += c;
      }
    }
  }
  return texts;
}

TEST_CASE("1028 schedules of nine peers read and write to the same text") {
  std::size_t count = 0;
  for (const char* peer : {"alpa", "chimera", "deepspeed", "dualpipe", "megatron", "ppvis", "torch",
                           "torchgpipe", "zero-bubble"}) {
    const auto lines = read_text(kData + "peers/" + peer + ".jsonl");
    REQUIRE(lines.has_value());
    for (const std::string& text : golden_csvs(*lines)) {
      const auto schedule = schedule_from_csv(text, peer);
      REQUIRE_MESSAGE(schedule.has_value(), to_string(schedule.error()));
      REQUIRE(to_csv(*schedule) == text);
      ++count;
    }
  }
  CHECK(count == 1028);
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace
