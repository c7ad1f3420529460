// Measures what a hop between two ranks costs while the sender computes.
#pragma once

#include <span>
#include <vector>

#include "core/profile.h"
#include "core/result.h"
#include "core/units.h"
#include "executor/channel.h"

namespace headrace {

/// One-way times of messages of one size.
struct LinkSample {
  Bytes size{0};
  Seconds time{0};  ///< Median.
};

/// Between ranks 0 and 1, which both call it: for sizes from 64 B to 4 MiB, the time from the
/// moment rank 0 posts a send and computes on to the moment rank 1, which waits, has the message.
/// Rank 1 gets the samples, rank 0 none. Seven sizes, each `repetitions` times some milliseconds.
Result<std::vector<LinkSample>> measure_link(Channel& channel, Seconds timeout,
                                             int repetitions = 25);

/// Latency and bandwidth by least squares over relative errors, so that small messages count as
/// much as large ones. Needs two different sizes; a slope that is not positive gives bandwidth 0
/// (infinitely fast), a negative intercept latency 0.
LinkSpeed fit_link(std::span<const LinkSample> samples);

}  // namespace headrace
