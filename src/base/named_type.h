#pragma once

#include <fmt/format.h>

#include <compare>
#include <cstddef>
#include <functional>

namespace strom {

/// A number with a meaning: comparable and hashable, never mixed up with another one. `value()` is the way out.
template <typename T, typename Tag>
class NamedType {
 public:
  using Raw = T;
  constexpr NamedType() = default;
  constexpr explicit NamedType(T value) : value_(value) {}
  constexpr T value() const { return value_; }
  constexpr auto operator<=>(const NamedType&) const = default;

 private:
  T value_{};
};

}  // namespace strom

template <typename T, typename Tag>
struct std::hash<strom::NamedType<T, Tag>> {
  size_t operator()(const strom::NamedType<T, Tag>& named) const noexcept { return std::hash<T>()(named.value()); }
};

template <typename T, typename Tag>
struct fmt::formatter<strom::NamedType<T, Tag>> : fmt::formatter<T> {
  template <typename Context>
  auto format(const strom::NamedType<T, Tag>& named, Context& context) const {
    return fmt::formatter<T>::format(named.value(), context);
  }
};
