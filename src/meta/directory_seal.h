#pragma once

#include <string>

#include "base/result.h"

namespace strom::meta {

/// A list of a directory's files with size and CRC-32C, written when everything is closed: `<directory>/SEAL`. With it, any change of any
/// byte in between is noticed. A line a file: "<crc32c, 8 hex digits> <size> <name>", and a last line with the CRC of those before.
Status WriteSeal(const std::string& directory);

/// True: sealed, and nothing has changed. False: no seal (it was not closed cleanly, or is new). kCorruptData names the first file that is not
/// what it was. The seal is left where it is: BreakSeal() before the first write.
Result<bool> CheckSeal(const std::string& directory);
/// Removes the seal for good, so that a power loss cannot bring it back.
Status BreakSeal(const std::string& directory);

}  // namespace strom::meta
