#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strom::model {

/// What is wrong with a name by its characters and length (not its prefix); nothing when it is fine.
std::optional<std::string> WhatIsWrongWithName(std::string_view name);

/// Text from outside as it may stand in a message: quoted, at most 80 bytes of it, without control characters.
std::string Shown(std::string_view text);

/// "a, b, c"
std::string Joined(const std::vector<std::string>& names);

/// The candidate that `word` was probably meant to be: the smallest edit distance, if that is small beside the word's length.
std::optional<std::string_view> NearestName(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace strom::model
