#include "log/writer_snapshot.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/crc32c.h"

namespace strom::log {

namespace {

constexpr std::string_view kChecksumMember = ",\"strom_crc32c\":";
constexpr int64_t kOffsetMax = int64_t{1} << 62;

using Json = nlohmann::json;

Error Bad(std::string_view what) { return MakeError(ErrorCode::kCorruptData, "the writer snapshot is damaged: {}", what); }

bool TakeInteger(const Json& value, int64_t low, int64_t high, int64_t& into) {
  if (!value.is_number_integer()) return false;
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) return false;
  into = value.get<int64_t>();
  return into >= low && into <= high;
}

bool TakeMember(const Json& object, const char* name, int64_t low, int64_t high, int64_t& into) {
  const auto found = object.find(name);
  return found != object.end() && TakeInteger(*found, low, high, into);
}

WriterBatch MakeBatch(int64_t sequence, int64_t last_offset, int64_t delta, int64_t timestamp) {
  return {static_cast<int32_t>(sequence), LogOffset(last_offset), static_cast<int32_t>(delta), TimestampMs(timestamp)};
}

bool DecodeEntry(const Json& entry, WriterSnapshot::Writer& writer) {
  int64_t id = 0, sequence = 0, last_offset = 0, delta = 0, timestamp = 0;
  if (!entry.is_object() || !TakeMember(entry, "writer_id", INT64_MIN, INT64_MAX, id) ||
      !TakeMember(entry, "last_batch_sequence", INT32_MIN, INT32_MAX, sequence) ||
      !TakeMember(entry, "last_batch_base_offset", -1, kOffsetMax, last_offset) ||
      !TakeMember(entry, "offset_delta", 0, INT32_MAX, delta) ||
      !TakeMember(entry, "last_batch_timestamp", -kOffsetMax, kOffsetMax, timestamp)) {
    return false;
  }
  writer = {WriterId(id), {MakeBatch(sequence, last_offset, delta, timestamp)}};
  return true;
}

bool DecodeBatches(const Json& list, std::vector<WriterBatch>& batches) {
  if (!list.is_array() || list.empty() || list.size() > WriterEntry::kBatchesMax) return false;
  batches.clear();
  for (const Json& item : list) {
    int64_t sequence = 0, last_offset = 0, delta = 0, timestamp = 0;
    if (!item.is_array() || item.size() != 4 || !TakeInteger(item[0], INT32_MIN, INT32_MAX, sequence) ||
        !TakeInteger(item[1], -1, kOffsetMax, last_offset) || !TakeInteger(item[2], 0, INT32_MAX, delta) ||
        !TakeInteger(item[3], -kOffsetMax, kOffsetMax, timestamp)) {
      return false;
    }
    batches.push_back(MakeBatch(sequence, last_offset, delta, timestamp));
  }
  return true;
}

/// False when there is a checksum that does not fit. A snapshot of a Java server has none.
bool ChecksumFits(std::string_view text) {
  const size_t at = text.rfind(kChecksumMember);
  if (at == std::string_view::npos) return true;
  const std::string_view rest = text.substr(at + kChecksumMember.size());
  uint32_t stored = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), stored);
  return error == std::errc() && std::string_view(end, static_cast<size_t>(rest.data() + rest.size() - end)) == "}" &&
         stored == Crc32c(AsBytes(text.substr(0, at)));
}

}  // namespace

std::string WriterSnapshot::Encode(Form form) const {
  std::string text = R"({"version":1,"writer_id_entries":[)";
  for (size_t i = 0; i < writers.size(); ++i) {
    const WriterBatch& last = writers[i].batches.back();
    text += fmt::format(
        R"({}{{"writer_id":{},"last_batch_sequence":{},"last_batch_base_offset":{},"offset_delta":{},"last_batch_timestamp":{}}})",
        i == 0 ? "" : ",", writers[i].writer, last.sequence, last.last_offset, last.offset_delta, last.timestamp);
  }
  text += "]";
  if (form == Form::kStrom) {
    text += R"(,"strom_batches":[)";
    for (size_t i = 0; i < writers.size(); ++i) {
      text += fmt::format(R"({}{{"writer_id":{},"batches":[)", i == 0 ? "" : ",", writers[i].writer);
      const char* comma = "";
      for (const WriterBatch& batch : writers[i].batches) {
        text += fmt::format("{}[{},{},{},{}]", comma, batch.sequence, batch.last_offset, batch.offset_delta, batch.timestamp);
        comma = ",";
      }
      text += "]}";
    }
    text += "]";
    text += fmt::format("{}{}", kChecksumMember, Crc32c(AsBytes(text)));
  }
  return text + "}";
}

Result<WriterSnapshot> WriterSnapshot::Decode(ByteView bytes) {
  if (!ChecksumFits(AsText(bytes))) return Bad("its checksum does not fit");
  const Json root = Json::parse(bytes.begin(), bytes.end(), nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded() || !root.is_object()) return Bad("it is no JSON object");
  int64_t version = 0;
  if (!TakeMember(root, "version", 1, 1, version)) return Bad("its version is not 1");
  const auto entries = root.find("writer_id_entries");
  if (entries == root.end() || !entries->is_array()) return Bad("it has no list of writers");
  WriterSnapshot snapshot;
  std::unordered_map<WriterId, size_t> places;
  for (const Json& entry : *entries) {
    Writer writer;
    if (!DecodeEntry(entry, writer)) return Bad("a writer's entry is incomplete or out of range");
    if (!places.emplace(writer.writer, snapshot.writers.size()).second) return Bad("a writer is there twice");
    snapshot.writers.push_back(std::move(writer));
  }
  const auto all = root.find("strom_batches");
  if (all == root.end()) return snapshot;
  if (!all->is_array()) return Bad("its list of batches is none");
  for (const Json& item : *all) {
    int64_t id = 0;
    std::vector<WriterBatch> batches;
    if (!item.is_object() || !TakeMember(item, "writer_id", INT64_MIN, INT64_MAX, id) || !item.contains("batches") ||
        !DecodeBatches(item["batches"], batches)) {
      return Bad("a writer's batches are incomplete or out of range");
    }
    const auto place = places.find(WriterId(id));
    if (place == places.end() || batches.back() != snapshot.writers[place->second].batches.back()) {
      return Bad("a writer's batches do not end with its last one");
    }
    snapshot.writers[place->second].batches = std::move(batches);
  }
  return snapshot;
}

WriterSnapshot WriterSnapshot::Of(const WriterState& state) {
  WriterSnapshot snapshot;
  snapshot.writers.reserve(state.size());
  for (const auto& [writer, entry] : state.writers()) {
    snapshot.writers.push_back({writer, {entry.batches().begin(), entry.batches().end()}});
  }
  std::sort(snapshot.writers.begin(), snapshot.writers.end(), [](const Writer& a, const Writer& b) { return a.writer < b.writer; });
  return snapshot;
}

void WriterSnapshot::RestoreTo(WriterState& state) const {
  for (const Writer& writer : writers) state.Restore(writer.writer, writer.batches);
}

}  // namespace strom::log
