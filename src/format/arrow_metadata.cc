#include "format/arrow_metadata.h"

#include <cstring>

namespace strom::format {
namespace {

constexpr uint32_t kContinuation = 0xFFFFFFFF;
constexpr int16_t kMetadataV4 = 3;  // differs from V5 in unions only, and no table has those
constexpr int16_t kMetadataV5 = 4;
constexpr uint8_t kHeaderRecordBatch = 3;
constexpr uint8_t kCompressionMethodBuffer = 0;

// Field numbers in the tables of Arrow's Message.fbs.
enum MessageField : size_t { kVersion = 0, kHeaderType = 1, kHeader = 2, kBodyLength = 3 };
enum RecordBatchField : size_t { kLength = 0, kNodes = 1, kBuffers = 2, kCompression = 3, kVariadicCounts = 4 };
enum CompressionField : size_t { kCodec = 0, kMethod = 1 };

Error Broken(std::string_view what) { return MakeError(ErrorCode::kCorruptRecord, "Arrow metadata: {}", what); }

/// A table of a flatbuffer of foreign bytes: after Open() every field is read within `bytes_`, or is an error.
class Table {
 public:
  static Result<Table> Open(ByteView bytes, uint64_t position) {
    if (!Fits(bytes, position, 4)) return Broken("a table lies outside");
    // The vtable may stand on either side of its table: a signed distance back from it.
    const int64_t vtable = static_cast<int64_t>(position) - LoadLe<int32_t>(bytes.data() + position);
    if (vtable < 0 || !Fits(bytes, static_cast<uint64_t>(vtable), 4)) return Broken("a vtable lies outside");
    Table table;
    table.bytes_ = bytes;
    table.position_ = position;
    table.vtable_ = static_cast<uint64_t>(vtable);
    table.vtable_size_ = LoadLe<uint16_t>(bytes.data() + vtable);
    table.size_ = LoadLe<uint16_t>(bytes.data() + vtable + 2);
    if (table.vtable_size_ < 4 || !Fits(bytes, table.vtable_, table.vtable_size_)) return Broken("a vtable has a bad size");
    if (table.size_ < 4 || !Fits(bytes, position, table.size_)) return Broken("a table has a bad size");
    return table;
  }

  /// Whether the field is there; absent ones have their default.
  bool Has(size_t field) const { return Slot(field) != 0; }

  template <typename T>
  Result<T> Scalar(size_t field, T otherwise) const {
    const uint16_t slot = Slot(field);
    if (slot == 0) return otherwise;
    if (static_cast<uint64_t>(slot) + sizeof(T) > size_) return Broken("a field lies outside of its table");
    return LoadLe<T>(bytes_.data() + position_ + slot);
  }

  Result<Table> Child(size_t field) const {
    STROM_ASSIGN(const uint64_t position, Follow(field));
    return Open(bytes_, position);
  }

  /// The entries of a vector of structs; empty when the field is absent.
  Result<ByteView> Structs(size_t field, size_t struct_size) const {
    if (!Has(field)) return ByteView();
    STROM_ASSIGN(const uint64_t position, Follow(field));
    if (!Fits(bytes_, position, 4)) return Broken("a vector lies outside");
    const uint64_t size = uint64_t{LoadLe<uint32_t>(bytes_.data() + position)} * struct_size;
    if (!Fits(bytes_, position + 4, size)) return Broken("a vector has more entries than bytes");
    return bytes_.subspan(position + 4, size);
  }

 private:
  static bool Fits(ByteView bytes, uint64_t position, uint64_t size) {
    return position <= bytes.size() && size <= bytes.size() - position;
  }

  /// Distance of a field from the table's start, 0 when it is absent.
  uint16_t Slot(size_t field) const {
    const size_t entry = 4 + 2 * field;
    return entry + 2 > vtable_size_ ? uint16_t{0} : LoadLe<uint16_t>(bytes_.data() + vtable_ + entry);
  }

  /// Where the offset stored in a field points to.
  Result<uint64_t> Follow(size_t field) const {
    const uint16_t slot = Slot(field);
    if (slot == 0) return Broken("a field is missing");
    STROM_ASSIGN(const uint32_t distance, Scalar<uint32_t>(field, 0));
    return position_ + slot + distance;
  }

  ByteView bytes_;
  uint64_t position_ = 0;
  uint64_t vtable_ = 0;
  uint64_t vtable_size_ = 0;
  uint64_t size_ = 0;
};

Result<std::optional<ArrowCodec>> ReadCodec(const Table& batch) {
  if (!batch.Has(kCompression)) return std::optional<ArrowCodec>();
  STROM_ASSIGN(const Table compression, batch.Child(kCompression));
  STROM_ASSIGN(const uint8_t codec, compression.Scalar<uint8_t>(kCodec, 0));
  STROM_ASSIGN(const uint8_t method, compression.Scalar<uint8_t>(kMethod, 0));
  if (codec > 1 || method != kCompressionMethodBuffer) {
    return MakeError(ErrorCode::kCorruptRecord, "Arrow metadata: compression codec {} with method {}, known are codecs 0 and 1 with method 0",
                     codec, method);
  }
  return std::optional(static_cast<ArrowCodec>(codec));
}

/// Checks the entries, so that their readers need not.
Status CheckEntries(const ArrowBatchMetadata& metadata) {
  for (size_t i = 0; i < metadata.node_count(); ++i) {
    const ArrowNode node = metadata.node(i);
    if (node.length < 0 || node.null_count < 0 || node.null_count > node.length) {
      return MakeError(ErrorCode::kCorruptRecord, "Arrow metadata: node {} has length {} and null count {}", i, node.length,
                       node.null_count);
    }
  }
  for (size_t i = 0; i < metadata.buffer_count(); ++i) {
    const ArrowBuffer buffer = metadata.buffer(i);
    if (buffer.offset < 0 || buffer.length < 0 || buffer.offset > metadata.body_length() ||
        buffer.length > metadata.body_length() - buffer.offset) {
      return MakeError(ErrorCode::kCorruptRecord, "Arrow metadata: buffer {} is at {}+{} of a body of {} bytes", i, buffer.offset,
                       buffer.length, metadata.body_length());
    }
  }
  return Status::OK();
}

}  // namespace

std::string_view ArrowCodecName(std::optional<ArrowCodec> codec) {
  if (!codec.has_value()) return "NONE";
  return *codec == ArrowCodec::kZstd ? "ZSTD" : "LZ4_FRAME";
}

Result<size_t> ReadArrowMetadataSize(ByteView message) {
  if (message.size() < kArrowPrefixSize) return Broken("fewer than 8 bytes");
  if (LoadLe<uint32_t>(message.data()) != kContinuation) return Broken("no continuation marker");
  const int32_t length = LoadLe<int32_t>(message.data() + 4);
  if (length < 8) return MakeError(ErrorCode::kCorruptRecord, "Arrow metadata: length {}", length);
  return kArrowPrefixSize + static_cast<size_t>(length);
}

Result<ArrowBatchMetadata> ParseArrowMetadata(ByteView message) {
  STROM_ASSIGN(const size_t size, ReadArrowMetadataSize(message));
  if (size > message.size()) {
    return MakeError(ErrorCode::kCorruptRecord, "Arrow metadata: {} of {} bytes are there", message.size(), size);
  }
  const ByteView bytes = message.subspan(kArrowPrefixSize, size - kArrowPrefixSize);
  STROM_ASSIGN(const Table table, Table::Open(bytes, LoadLe<uint32_t>(bytes.data())));
  STROM_ASSIGN(const int16_t version, table.Scalar<int16_t>(kVersion, 0));
  STROM_ASSIGN(const uint8_t header_type, table.Scalar<uint8_t>(kHeaderType, 0));
  if (version < kMetadataV4 || version > kMetadataV5 || header_type != kHeaderRecordBatch) {
    return MakeError(ErrorCode::kCorruptRecord, "Arrow metadata: version {} and header type {}, expected 4 and 3", version, header_type);
  }
  STROM_ASSIGN(const Table batch, table.Child(kHeader));
  if (batch.Has(kVariadicCounts)) {
    STROM_ASSIGN(const ByteView counts, batch.Structs(kVariadicCounts, 8));
    if (!counts.empty()) return Broken("variadic buffers, which no type of ours has");
  }

  ArrowBatchMetadata metadata;
  metadata.metadata_size_ = size;
  STROM_ASSIGN(metadata.body_length_, table.Scalar<int64_t>(kBodyLength, 0));
  STROM_ASSIGN(metadata.record_count_, batch.Scalar<int64_t>(kLength, 0));
  STROM_ASSIGN(metadata.nodes_, batch.Structs(kNodes, kArrowStructSize));
  STROM_ASSIGN(metadata.buffers_, batch.Structs(kBuffers, kArrowStructSize));
  STROM_ASSIGN(metadata.codec_, ReadCodec(batch));
  if (metadata.body_length_ < 0 || metadata.record_count_ < 0) {
    return MakeError(ErrorCode::kCorruptRecord, "Arrow metadata: body of {} bytes, {} records", metadata.body_length_,
                     metadata.record_count_);
  }
  STROM_TRY(CheckEntries(metadata));
  return metadata;
}

namespace {

// Positions in the metadata after its 8 byte prefix; see the layout at the builder. Everything is aligned to its size, as
// verifying readers demand, and the entries of nodes and buffers to 8.
constexpr size_t kMessageVtable = 4;
constexpr size_t kMessageTable = 16;
constexpr size_t kBatchVtable = 36;
constexpr size_t kBatchTable = 48;
constexpr size_t kCompressionVtable = 72;
constexpr size_t kCompressionTable = 80;
constexpr size_t kEntriesPlain = 72;
constexpr size_t kEntriesCompressed = 88;

struct Positions {
  size_t node_count_at;  // of the u32 before the entries
  size_t buffer_count_at;
  size_t end;
};

Positions Place(size_t node_count, size_t buffer_count, bool compressed) {
  Positions at;
  at.node_count_at = (compressed ? kEntriesCompressed : kEntriesPlain) + 4;
  at.buffer_count_at = at.node_count_at + 4 + node_count * kArrowStructSize + 4;
  at.end = at.buffer_count_at + 4 + buffer_count * kArrowStructSize;
  return at;
}

template <typename... Slots>
void StoreVtable(uint8_t* to, size_t table_size, Slots... slots) {
  StoreLe(to, static_cast<uint16_t>(4 + 2 * sizeof...(slots)));
  StoreLe(to + 2, static_cast<uint16_t>(table_size));
  size_t at = 4;
  ((StoreLe(to + at, static_cast<uint16_t>(slots)), at += 2), ...);
}

/// Stores the distance from the place itself to `target`, as a flatbuffer refers to what comes later.
void StoreReference(uint8_t* metadata, size_t at, size_t target) {
  StoreLe(metadata + at, static_cast<uint32_t>(target - at));
}

}  // namespace

size_t ArrowMetadataBuilder::Size(size_t node_count, size_t buffer_count, std::optional<ArrowCodec> codec) {
  return kArrowPrefixSize + Place(node_count, buffer_count, codec.has_value()).end;
}

ArrowMetadataBuilder::ArrowMetadataBuilder(uint8_t* to, int64_t record_count, size_t node_count, size_t buffer_count,
                                           std::optional<ArrowCodec> codec)
    : start_(to + kArrowPrefixSize) {
  const Positions at = Place(node_count, buffer_count, codec.has_value());
  StoreLe(to, kContinuation);
  StoreLe(to + 4, static_cast<int32_t>(at.end));
  std::memset(start_, 0, at.node_count_at);

  StoreLe(start_, static_cast<uint32_t>(kMessageTable));
  StoreVtable(start_ + kMessageVtable, 20, /*version*/ 16, /*header_type*/ 18, /*header*/ 4, /*bodyLength*/ 8);
  StoreLe(start_ + kMessageTable, static_cast<int32_t>(kMessageTable - kMessageVtable));
  StoreReference(start_, kMessageTable + 4, kBatchTable);
  StoreLe(start_ + kMessageTable + 16, kMetadataV5);
  start_[kMessageTable + 18] = kHeaderRecordBatch;

  StoreVtable(start_ + kBatchVtable, 24, /*length*/ 8, /*nodes*/ 4, /*buffers*/ 16, /*compression*/ codec.has_value() ? 20 : 0);
  StoreLe(start_ + kBatchTable, static_cast<int32_t>(kBatchTable - kBatchVtable));
  StoreReference(start_, kBatchTable + 4, at.node_count_at);
  StoreLe(start_ + kBatchTable + 8, record_count);
  StoreReference(start_, kBatchTable + 16, at.buffer_count_at);
  if (codec.has_value()) {
    StoreReference(start_, kBatchTable + 20, kCompressionTable);
    StoreVtable(start_ + kCompressionVtable, 8, /*codec*/ 4, /*method*/ 5);
    StoreLe(start_ + kCompressionTable, static_cast<int32_t>(kCompressionTable - kCompressionVtable));
    start_[kCompressionTable + 4] = static_cast<uint8_t>(*codec);
    start_[kCompressionTable + 5] = kCompressionMethodBuffer;
  }

  StoreLe(start_ + at.node_count_at, static_cast<uint32_t>(node_count));
  next_node_ = start_ + at.node_count_at + 4;
  nodes_end_ = next_node_ + node_count * kArrowStructSize;
  std::memset(nodes_end_, 0, 4);
  StoreLe(start_ + at.buffer_count_at, static_cast<uint32_t>(buffer_count));
  next_buffer_ = start_ + at.buffer_count_at + 4;
  buffers_end_ = next_buffer_ + buffer_count * kArrowStructSize;
}

void ArrowMetadataBuilder::AddNode(const ArrowNode& node) {
  STROM_ASSERT(next_node_ < nodes_end_, "more nodes than announced");
  StoreLe(next_node_, node.length);
  StoreLe(next_node_ + 8, node.null_count);
  next_node_ += kArrowStructSize;
}

void ArrowMetadataBuilder::AddNodes(ByteView entries) {
  STROM_ASSERT(entries.size() <= static_cast<size_t>(nodes_end_ - next_node_), "more nodes than announced");
  if (!entries.empty()) std::memcpy(next_node_, entries.data(), entries.size());
  next_node_ += entries.size();
}

void ArrowMetadataBuilder::AddBuffer(const ArrowBuffer& buffer) {
  STROM_ASSERT(next_buffer_ < buffers_end_, "more buffers than announced");
  StoreLe(next_buffer_, buffer.offset);
  StoreLe(next_buffer_ + 8, buffer.length);
  next_buffer_ += kArrowStructSize;
}

void ArrowMetadataBuilder::Finish(int64_t body_length) {
  STROM_ASSERT(next_node_ == nodes_end_ && next_buffer_ == buffers_end_, "fewer nodes or buffers than announced");
  StoreLe(start_ + kMessageTable + 8, body_length);
}

}  // namespace strom::format
