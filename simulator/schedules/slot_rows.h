// Rows from a drawing: every action has a slot in which equal slots would have it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/schedule.h"

namespace headrace {

/// Collects one device's actions with their slots and writes them in order of time. Slots of one
/// device must differ.
class SlotRow {
 public:
  void add(std::int64_t slot, ActionKind kind, int stage, int microbatch) {
    entries_.push_back(
        {slot, {.kind = kind, .stage = StageId{stage}, .microbatch = MicrobatchId{microbatch}}});
  }

  /// Appends to `row`; an I is followed at once by its W.
  void write(std::vector<Action>& row) {
    std::ranges::sort(entries_, {}, &Entry::slot);
    for (const Entry& entry : entries_) {
      row.push_back(entry.action);
      if (entry.action.kind != ActionKind::kInputGrad) continue;
      row.push_back(entry.action);
      row.back().kind = ActionKind::kWeightGrad;
    }
  }

 private:
  struct Entry {
    std::int64_t slot;
    Action action;
  };
  std::vector<Entry> entries_;
};

}  // namespace headrace
