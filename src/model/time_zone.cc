#include "model/time_zone.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>

#include "base/endian.h"
#include "model/names.h"

namespace strom::model {

/// Reads the blocks of a zone file (RFC 8536): a header of 44 bytes with the counts, then the tables. All integers big-endian.
class ZoneFileReader {
 public:
  explicit ZoneFileReader(ByteView content) : rest_(content) {}

  Result<TimeZone> Read() {
    const std::optional<Counts> first = ReadHeader();
    if (!first) return Malformed("its header");
    if (first->version == 0) {
      if (!ReadTables<int32_t>(*first)) return Malformed("its tables");
      return Finish();
    }
    // The first block is for old readers; a second one with 64-bit times follows.
    if (!Skip(first->SizeOfTables(4))) return Malformed("its first block");
    const std::optional<Counts> second = ReadHeader();
    if (!second || !ReadTables<int64_t>(*second)) return Malformed("its second block");
    STROM_TRY(ReadFooter());
    return Finish();
  }

 private:
  struct Counts {
    uint8_t version;
    uint32_t utc_flags, standard_flags, leap_seconds, transitions, types, name_bytes;

    uint64_t SizeOfTables(uint64_t time_size) const {
      return transitions * (time_size + 1) + types * uint64_t{6} + name_bytes + leap_seconds * (time_size + 4) +
             uint64_t{standard_flags} + utc_flags;
    }
  };

  static Error Malformed(std::string_view what) {
    return MakeError(ErrorCode::kInvalidConfig, "a time zone file is damaged: {} cannot be read", what);
  }

  bool Skip(uint64_t count) {
    if (count > rest_.size()) return false;
    rest_ = rest_.subspan(static_cast<size_t>(count));
    return true;
  }

  std::optional<Counts> ReadHeader() {
    constexpr size_t kHeaderSize = 44;
    if (rest_.size() < kHeaderSize || AsText(rest_.first(4)) != "TZif") return std::nullopt;
    const uint8_t* at = rest_.data();
    Counts counts{at[4],
                  LoadBe<uint32_t>(at + 20),
                  LoadBe<uint32_t>(at + 24),
                  LoadBe<uint32_t>(at + 28),
                  LoadBe<uint32_t>(at + 32),
                  LoadBe<uint32_t>(at + 36),
                  LoadBe<uint32_t>(at + 40)};
    rest_ = rest_.subspan(kHeaderSize);
    return counts;
  }

  template <typename Time>
  bool ReadTables(const Counts& counts) {
    if (counts.SizeOfTables(sizeof(Time)) > rest_.size() || counts.types == 0) return false;
    const uint8_t* times = rest_.data();
    const uint8_t* type_of = times + counts.transitions * sizeof(Time);
    const uint8_t* types = type_of + counts.transitions;
    const auto offset_of = [&](size_t type) { return LoadBe<int32_t>(types + type * 6); };
    data_.first_offset = offset_of(0);
    for (size_t i = 0; i < counts.transitions; ++i) {
      const int64_t at = LoadBe<Time>(times + i * sizeof(Time));
      if (type_of[i] >= counts.types) return false;
      if (!data_.transitions.empty() && data_.transitions.back().at >= at) return false;
      data_.transitions.push_back({at, offset_of(type_of[i])});
    }
    return Skip(counts.SizeOfTables(sizeof(Time)));
  }

  Status ReadFooter() {
    const std::string_view text = AsText(rest_);
    if (text.size() < 2 || text.front() != '\n') return Malformed("its last line");
    const size_t end = text.find('\n', 1);
    if (end == std::string_view::npos) return Malformed("its last line");
    const std::string_view rule = text.substr(1, end - 1);
    if (rule.empty()) return Status::OK();
    STROM_ASSIGN(data_.rules, TimeZone::Rules::Parse(rule));
    data_.has_rules = true;
    return Status::OK();
  }

  Result<TimeZone> Finish() {
    TimeZone zone;
    zone.data_ = std::make_shared<const TimeZone::Data>(std::move(data_));
    return zone;
  }

  ByteView rest_;
  TimeZone::Data data_;
};

namespace {

std::optional<std::string> ReadFile(const std::string& path) {
  constexpr size_t kZoneFileSizeMax = 1 << 20;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad() || content.empty() || content.size() > kZoneFileSizeMax) return std::nullopt;
  return content;
}

/// "+8", "-03:30", "+0830"; nothing when it is none of these or above 18 hours.
std::optional<int32_t> ParseOffset(std::string_view text) {
  if (text.size() < 2 || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  std::string digits;
  size_t colons = 0;
  for (const char c : text.substr(1)) {
    if (c == ':') {
      ++colons;
    } else if (c >= '0' && c <= '9') {
      digits += c;
    } else {
      return std::nullopt;
    }
  }
  if (digits.size() % 2 == 1) digits.insert(digits.begin(), '0');
  if (digits.empty() || digits.size() > 6 || (colons != 0 && colons != digits.size() / 2 - 1)) return std::nullopt;
  const auto pair = [&](size_t i) { return digits.size() > i ? (digits[i] - '0') * 10 + digits[i + 1] - '0' : 0; };
  const int32_t seconds = pair(0) * 3600 + pair(2) * 60 + pair(4);
  if (pair(2) > 59 || pair(4) > 59 || seconds > 18 * 3600) return std::nullopt;
  return text[0] == '-' ? -seconds : seconds;
}

/// The short ids that Java keeps for old programs.
constexpr std::array<std::pair<std::string_view, std::string_view>, 28> kShortIds = {{
    {"ACT", "Australia/Darwin"},
    {"AET", "Australia/Sydney"},
    {"AGT", "America/Argentina/Buenos_Aires"},
    {"ART", "Africa/Cairo"},
    {"AST", "America/Anchorage"},
    {"BET", "America/Sao_Paulo"},
    {"BST", "Asia/Dhaka"},
    {"CAT", "Africa/Harare"},
    {"CNT", "America/St_Johns"},
    {"CST", "America/Chicago"},
    {"CTT", "Asia/Shanghai"},
    {"EAT", "Africa/Addis_Ababa"},
    {"ECT", "Europe/Paris"},
    {"EST", "-05:00"},
    {"HST", "-10:00"},
    {"IET", "America/Indiana/Indianapolis"},
    {"IST", "Asia/Kolkata"},
    {"JST", "Asia/Tokyo"},
    {"MIT", "Pacific/Apia"},
    {"MST", "-07:00"},
    {"NET", "Asia/Yerevan"},
    {"NST", "Pacific/Auckland"},
    {"PLT", "Asia/Karachi"},
    {"PNT", "America/Phoenix"},
    {"PRT", "America/Puerto_Rico"},
    {"PST", "America/Los_Angeles"},
    {"SST", "Pacific/Guadalcanal"},
    {"VST", "Asia/Ho_Chi_Minh"},
}};

bool IsRegionName(std::string_view id) {
  return !id.empty() && id.size() <= 64 && id.front() != '/' && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '+' || c == '/';
  });
}

}  // namespace

TimeZone TimeZone::Fixed(int32_t offset_seconds) {
  Data data;
  data.first_offset = offset_seconds;
  TimeZone zone;
  zone.data_ = std::make_shared<const Data>(std::move(data));
  return zone;
}

Result<TimeZone> TimeZone::FromZoneFile(ByteView content) { return ZoneFileReader(content).Read(); }

Result<TimeZone> TimeZone::Find(std::string_view id, std::string_view zone_folder) {
  for (const auto& [short_id, meaning] : kShortIds) {
    if (id == short_id) return Find(meaning, zone_folder);
  }
  if (id == "Z" || id == "UTC" || id == "GMT" || id == "UT") return TimeZone();
  std::string_view offset = id;
  for (const std::string_view prefix : {"UTC", "GMT", "UT"}) {
    if (id.starts_with(prefix)) {
      offset.remove_prefix(prefix.size());
      break;
    }
  }
  if (const std::optional<int32_t> seconds = ParseOffset(offset)) return Fixed(*seconds);
  if (IsRegionName(id)) {
    const std::optional<std::string> content = ReadFile(fmt::format("{}/{}", zone_folder, id));
    if (content) return FromZoneFile(AsBytes(*content));
    if (!ReadFile(fmt::format("{}/UTC", zone_folder))) {
      return MakeError(
          ErrorCode::kInvalidConfig,
          "the time zone {} cannot be looked up: there are no zone files in {} (install the package tzdata, or use "
          "an offset such as +08:00)",
          Shown(id), zone_folder);
    }
  }
  return MakeError(ErrorCode::kInvalidConfig,
                   "{} is not a time zone: UTC, an offset such as +08:00 or GMT+8, or a region such as "
                   "Asia/Shanghai is expected",
                   Shown(id));
}

TimeZone TimeZone::Local() {
  const char* variable = std::getenv("TZ");
  std::string_view id = variable == nullptr ? "" : variable;
  if (id.starts_with(':')) id.remove_prefix(1);
  if (!id.empty()) {
    auto zone = Find(id);
    return zone.ok() ? *zone : TimeZone();
  }
  const std::optional<std::string> content = ReadFile("/etc/localtime");
  if (!content) return TimeZone();
  auto zone = FromZoneFile(AsBytes(*content));
  return zone.ok() ? *zone : TimeZone();
}

int32_t TimeZone::OffsetAt(int64_t utc_seconds) const {
  if (!data_) return 0;
  const std::vector<Transition>& all = data_->transitions;
  if (data_->has_rules && (all.empty() || utc_seconds >= all.back().at)) return data_->rules.OffsetAt(utc_seconds);
  const auto next =
      std::upper_bound(all.begin(), all.end(), utc_seconds, [](int64_t at, const Transition& t) { return at < t.at; });
  return next == all.begin() ? data_->first_offset : std::prev(next)->offset;
}

int64_t TimeZone::Normalize(int64_t local_seconds) const {
  constexpr int64_t kDay = 86400;
  const int32_t before = OffsetAt(local_seconds - kDay);
  const int64_t utc = local_seconds - before;
  const int32_t there = OffsetAt(utc);
  if (there == before || OffsetAt(local_seconds - there) == there) return local_seconds;
  return utc + there;
}

}  // namespace strom::model
