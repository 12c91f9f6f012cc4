#include "log/leader_epoch_history.h"

#include <algorithm>
#include <charconv>

#include "base/crc32c.h"

namespace strom::log {

namespace {

constexpr std::string_view kTitle = "strom-epochs 1\n";

Error Damaged(std::string_view what) {
  return MakeError(ErrorCode::kCorruptData, "{} is damaged: {}", LeaderEpochHistory::kFileName, what);
}

/// The number at the start of `text`, which is moved behind it and behind `end`.
template <typename T>
bool TakeNumber(std::string_view& text, char end, T& number) {
  const auto [next, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || next == text.data() + text.size() || *next != end) return false;
  text.remove_prefix(static_cast<size_t>(next - text.data()) + 1);
  return true;
}

}  // namespace

bool LeaderEpochHistory::Assign(LeaderEpoch epoch, LogOffset first_offset) {
  if (!starts_.empty() && epoch <= starts_.back().epoch) return false;
  while (!starts_.empty() && starts_.back().first_offset >= first_offset) starts_.pop_back();
  starts_.push_back({epoch, first_offset});
  return true;
}

std::optional<LeaderEpochHistory::End> LeaderEpochHistory::EndOffsetFor(LeaderEpoch epoch, LogOffset log_end) const {
  const auto above =
      std::partition_point(starts_.begin(), starts_.end(), [epoch](const LeaderEpochStart& start) { return start.epoch <= epoch; });
  if (above == starts_.begin()) return std::nullopt;
  return End{std::prev(above)->epoch, above == starts_.end() ? log_end : above->first_offset};
}

std::optional<LeaderEpoch> LeaderEpochHistory::EpochOf(LogOffset offset) const {
  const auto above = std::partition_point(starts_.begin(), starts_.end(),
                                          [offset](const LeaderEpochStart& start) { return start.first_offset <= offset; });
  if (above == starts_.begin()) return std::nullopt;
  return std::prev(above)->epoch;
}

bool LeaderEpochHistory::TruncateTo(LogOffset offset) {
  const size_t before = starts_.size();
  while (!starts_.empty() && starts_.back().first_offset >= offset) starts_.pop_back();
  return starts_.size() != before;
}

bool LeaderEpochHistory::TruncateBelow(LogOffset offset) {
  size_t gone = 0;
  while (gone + 1 < starts_.size() && starts_[gone + 1].first_offset <= offset) ++gone;
  starts_.erase(starts_.begin(), starts_.begin() + static_cast<ptrdiff_t>(gone));
  return gone > 0;
}

std::string LeaderEpochHistory::Encode() const {
  std::string text(kTitle);
  for (const LeaderEpochStart& start : starts_) text += fmt::format("{} {}\n", start.epoch, start.first_offset);
  text += fmt::format("crc {:08x}\n", Crc32c(AsBytes(text)));
  return text;
}

Result<LeaderEpochHistory> LeaderEpochHistory::Decode(ByteView bytes) {
  constexpr size_t kCrcLineSize = 13;  // "crc xxxxxxxx\n"
  std::string_view text = AsText(bytes);
  if (text.size() < kTitle.size() + kCrcLineSize || text.substr(0, kTitle.size()) != kTitle) return Damaged("it has no title or no end");
  const std::string_view body = text.substr(0, text.size() - kCrcLineSize);
  if (text.substr(body.size()) != fmt::format("crc {:08x}\n", Crc32c(AsBytes(body)))) return Damaged("its checksum does not fit");
  LeaderEpochHistory history;
  for (std::string_view lines = body.substr(kTitle.size()); !lines.empty();) {
    int32_t epoch = 0;
    int64_t offset = 0;
    if (!TakeNumber(lines, ' ', epoch) || !TakeNumber(lines, '\n', offset) || offset < 0) return Damaged("a line is no pair of numbers");
    if (!history.starts_.empty() &&
        (history.starts_.back().epoch.value() >= epoch || history.starts_.back().first_offset.value() >= offset)) {
      return Damaged("its epochs do not increase");
    }
    history.starts_.push_back({LeaderEpoch(epoch), LogOffset(offset)});
  }
  return history;
}

}  // namespace strom::log
