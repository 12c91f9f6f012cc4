#pragma once

#include <cstdint>

#include "base/named_type.h"

namespace strom {

/// Milliseconds since 1970-01-01 UTC, from the wall clock. For stamps only; durations come from rt::Now().
using TimestampMs = NamedType<int64_t, struct TimestampMsTag>;

}  // namespace strom
