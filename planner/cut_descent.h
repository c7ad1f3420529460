// Improves a cut step by step: good cuts of long chains long before a proof.
#pragma once

#include "core/result.h"
#include "planner/cut_bound.h"
#include "planner/cut_record.h"

namespace headrace {

/// Moves groups of neighbouring borders of the record's cut together, first far, then by single
/// layers, and keeps every move that makes the iteration faster, until no move does or the record
/// holds `most_scored` fresh scores. Moves that leave memory, empty a stage or whose lower bound is
/// too long are not scored. Deterministic. Fails only as the scorer does.
Result<void> descend(const CutBound& bound, const ChainCosts& costs, CutRecord& record,
                     int most_scored);

}  // namespace headrace
