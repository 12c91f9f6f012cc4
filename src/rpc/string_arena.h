#pragma once

#include <forward_list>
#include <string>
#include <string_view>
#include <utility>

namespace strom::rpc {

/// Owner of the texts that a response under construction looks at. Each generated `*Response` carries one, so that what was kept lives as
/// long as the response:
///
///   response.error_message = response.arena.Keep(fmt::format("bucket {} is not here", bucket));
///
/// Texts that live elsewhere until Encode() (a catalog snapshot held by the handler, the request's body) need no keeping. Move only, and
/// views stay valid when it moves; so a response is moved, never copied.
class StringArena {
 public:
  StringArena() = default;
  StringArena(StringArena&&) noexcept = default;
  StringArena& operator=(StringArena&&) noexcept = default;
  StringArena(const StringArena&) = delete;
  StringArena& operator=(const StringArena&) = delete;

  std::string_view Keep(std::string text) { return texts_.emplace_front(std::move(text)); }

 private:
  std::forward_list<std::string> texts_;  // nodes never move, so short texts inside them do not either
};

}  // namespace strom::rpc
