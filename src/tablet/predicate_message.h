#pragma once

#include "base/result.h"
#include "format/predicate.h"
#include "rpc/messages.h"

namespace strom::tablet {

/// The filter of a FetchLog request as a value that owns its literals (spec/wire-protocol.md 6.20). kUnsupportedVersion, with a
/// sentence, for functions, literal types and shapes that nobody knows: the client then sees what is wrong, not an empty scan.
Result<format::Predicate> ParsePredicate(const rpc::PbPredicate& message);

}  // namespace strom::tablet
