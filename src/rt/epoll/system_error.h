#pragma once

#include <cerrno>
#include <string>
#include <system_error>

#include "base/error_code.h"

namespace strom::rt {

/// "No space left on device", in every thread.
inline std::string SystemErrorText(int error) { return std::generic_category().message(error); }

/// The code for an errno of a file operation.
inline ErrorCode FileErrorCode(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT: return ErrorCode::kNoSpace;
    case ENOENT: return ErrorCode::kNotFound;
    case EEXIST: return ErrorCode::kAlreadyExists;
    default: return ErrorCode::kIoError;
  }
}

}  // namespace strom::rt
