#include "core/simulation.h"

namespace headrace {

std::string_view name_of(Cause cause) {
  switch (cause) {
    case Cause::kStart:
      return "start";
    case Cause::kDevice:
      return "device";
    case Cause::kMessage:
      return "message";
    case Cause::kPartner:
      return "partner";
    case Cause::kCopy:
      return "copy";
  }
  return "start";
}

}  // namespace headrace
