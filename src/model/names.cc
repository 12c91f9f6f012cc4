#include "model/names.h"

#include <algorithm>

namespace strom::model {

namespace {

/// Levenshtein distance, with a swap of neighbours counted as one edit.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

std::optional<std::string_view> NearestName(std::string_view word, const std::vector<std::string_view>& candidates) {
  constexpr size_t kWordLengthMax = 200;  // the distance costs the product of the lengths
  if (word.size() > kWordLengthMax) return std::nullopt;
  std::optional<std::string_view> nearest;
  size_t smallest = std::max<size_t>(2, word.size() / 4) + 1;
  for (const std::string_view candidate : candidates) {
    const size_t longer = std::max(candidate.size(), word.size());
    if (longer - std::min(candidate.size(), word.size()) >= smallest) continue;  // the distance is at least that
    const size_t distance = EditDistance(word, candidate);
    if (distance < smallest) {
      smallest = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace strom::model
