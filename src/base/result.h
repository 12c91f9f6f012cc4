#pragma once

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "base/error_code.h"

namespace strom {

/// Why something failed: a code, and a sentence for a person (with a hint where there is one).
struct Error {
  ErrorCode code = ErrorCode::kUnknownServerError;
  std::string message;
};

/// OK, or an Error. OK costs one pointer.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::make_unique<Error>(std::move(error))) {}  // NOLINT: implicit on purpose
  Status(const Status& other) : error_(other.error_ ? std::make_unique<Error>(*other.error_) : nullptr) {}
  Status(Status&&) noexcept = default;
  Status& operator=(const Status& other) {
    error_ = other.error_ ? std::make_unique<Error>(*other.error_) : nullptr;
    return *this;
  }
  Status& operator=(Status&&) noexcept = default;

  static Status OK() { return {}; }

  bool ok() const { return error_ == nullptr; }
  ErrorCode code() const { return error_ ? error_->code : ErrorCode::kNone; }
  const Error& error() const {
    STROM_ASSERT(error_ != nullptr, "error() of an OK status");
    return *error_;
  }
  std::string ToString() const {
    return ok() ? "OK" : fmt::format("{}: {}", ErrorCodeName(error_->code), error_->message);
  }

 private:
  std::unique_ptr<Error> error_;
};

/// A value, or an Error.
template <typename T>
class [[nodiscard]] Result {
 public:
  using Value = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit on purpose
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT
  Result(Status status) : state_(std::in_place_index<1>, status.error()) {}  // NOLINT: must not be OK

  bool ok() const { return state_.index() == 0; }
  ErrorCode code() const { return ok() ? ErrorCode::kNone : std::get<1>(state_).code; }
  const Error& error() const {
    STROM_ASSERT(!ok(), "error() of a result that holds a value");
    return std::get<1>(state_);
  }
  Status status() const { return ok() ? Status() : Status(std::get<1>(state_)); }
  std::string ToString() const { return status().ToString(); }

  T& value() & {
    STROM_ASSERT(ok(), "value() of an error: {}", ToString());
    return std::get<0>(state_);
  }
  const T& value() const& {
    STROM_ASSERT(ok(), "value() of an error: {}", ToString());
    return std::get<0>(state_);
  }
  T&& value() && {
    STROM_ASSERT(ok(), "value() of an error: {}", ToString());
    return std::get<0>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Error> state_;
};

/// MakeError(code, "table {} does not exist", path)
template <typename... Args>
Error MakeError(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return Error{code, fmt::format(format, std::forward<Args>(args)...)};
}

namespace internal {
inline Error TakeError(Status&& status) { return status.error(); }
template <typename T>
Error TakeError(Result<T>&& result) {
  return result.error();
}
}  // namespace internal

}  // namespace strom

#define STROM_CONCAT_INNER(a, b) a##b
#define STROM_CONCAT(a, b) STROM_CONCAT_INNER(a, b)

#define STROM_TRY_IMPL(name, expression, keyword)                \
  do {                                                           \
    auto name = (expression);                                    \
    if (!name.ok()) [[unlikely]] {                               \
      keyword ::strom::internal::TakeError(std::move(name));     \
    }                                                            \
  } while (false)

#define STROM_ASSIGN_IMPL(name, target, expression, keyword)     \
  auto name = (expression);                                      \
  if (!name.ok()) [[unlikely]] {                                 \
    keyword ::strom::internal::TakeError(std::move(name));       \
  }                                                              \
  target = std::move(name).value()

/// STROM_TRY(status_or_result): returns the error from this function, else goes on.
#define STROM_TRY(expression) STROM_TRY_IMPL(STROM_CONCAT(strom_try_, __LINE__), expression, return)
/// STROM_ASSIGN(auto x, result): returns the error from this function, else x is the value.
#define STROM_ASSIGN(target, expression) STROM_ASSIGN_IMPL(STROM_CONCAT(strom_assign_, __LINE__), target, expression, return)
/// The same inside a coroutine.
#define STROM_CO_TRY(expression) STROM_TRY_IMPL(STROM_CONCAT(strom_try_, __LINE__), expression, co_return)
#define STROM_CO_ASSIGN(target, expression) \
  STROM_ASSIGN_IMPL(STROM_CONCAT(strom_assign_, __LINE__), target, expression, co_return)
