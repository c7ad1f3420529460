#include "simulator/recompute.h"

#include <utility>

namespace headrace {

Schedule with_recompute(Schedule schedule, const std::vector<bool>& recomputed) {
  for (std::vector<Action>& row : schedule.rows) {
    std::vector<Action> longer;
    longer.reserve(row.size() + row.size() / 2);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::size_t count = row[i].overlaps_next ? 2 : 1;
      for (std::size_t k = i; k < i + count; ++k) {
        if (!passes_gradient(row[k].kind) || !recomputed[index_of(row[k].stage)]) continue;
        longer.push_back({.kind = ActionKind::kRecompute,
                          .stage = row[k].stage,
                          .microbatch = row[k].microbatch});
      }
      for (std::size_t k = i; k < i + count; ++k) longer.push_back(row[k]);
      i += count - 1;
    }
    row = std::move(longer);
  }
  return schedule;
}

}  // namespace headrace
