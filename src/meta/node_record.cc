#include "meta/node_record.h"

#include "base/endian.h"

namespace strom::meta {
namespace {
constexpr size_t kHeaderSize = 14;
constexpr uint8_t kFormat = 1;
constexpr uint8_t kEphemeral = 1;
}  // namespace

std::string EncodeNodeRecord(const Node& node) {
  std::string record(kHeaderSize, '\0');
  StoreLe<uint8_t>(record.data(), kFormat);
  StoreLe<uint8_t>(record.data() + 1, node.ephemeral ? kEphemeral : uint8_t{0});
  StoreLe<int32_t>(record.data() + 2, node.version);
  StoreLe<int64_t>(record.data() + 6, node.created_at);
  return record + node.data;
}

Result<Node> DecodeNodeRecord(std::string_view record) {
  if (record.size() < kHeaderSize) {
    return MakeError(ErrorCode::kCorruptData, "a metadata node of {} bytes is shorter than its header", record.size());
  }
  const auto format = LoadLe<uint8_t>(record.data());
  const auto flags = LoadLe<uint8_t>(record.data() + 1);
  Node node{std::string(record.substr(kHeaderSize)), LoadLe<int32_t>(record.data() + 2), LoadLe<int64_t>(record.data() + 6),
            flags == kEphemeral};
  if (format != kFormat || flags > kEphemeral || node.version < 0 || node.created_at < 0) {
    return MakeError(ErrorCode::kCorruptData, "a metadata node has format {}, flags {}, version {}, created at {}", format, flags,
                     node.version, node.created_at);
  }
  return node;
}

}  // namespace strom::meta
