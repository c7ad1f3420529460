#include "core/comparison.h"

namespace headrace {

double relative_error(Seconds predicted, Seconds measured) {
  return ratio(predicted - measured, measured);
}

}  // namespace headrace
