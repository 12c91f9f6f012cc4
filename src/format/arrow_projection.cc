#include "format/arrow_projection.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace strom::format {
namespace {

/// Padding up to this belongs to the buffer before it, as some writers align to 64 bytes; a longer gap is left out.
constexpr int64_t kPaddingMax = 63;

/// The Length field is an i32.
constexpr uint64_t kBatchSizeMax = kBatchLengthEnd + static_cast<uint64_t>(std::numeric_limits<int32_t>::max());

}  // namespace

Status CheckProjection(std::span<const int32_t> positions, size_t column_count) {
  if (positions.empty()) return MakeError(ErrorCode::kInvalidColumnProjection, "a projection needs at least one column");
  int64_t previous = -1;
  for (const int32_t position : positions) {
    if (position <= previous) {
      return MakeError(ErrorCode::kInvalidColumnProjection, "projected column {} stands after {}: they must ascend", position, previous);
    }
    if (static_cast<size_t>(position) >= column_count) {
      return MakeError(ErrorCode::kInvalidColumnProjection, "projected column {} of a table with {} columns", position, column_count);
    }
    previous = position;
  }
  return Status::OK();
}

Result<size_t> ArrowMessageOffset(const LogBatchHeader& header) {
  const size_t offset = header.header_size() + static_cast<size_t>(header.statistics_length) +
                        (header.append_only() ? 0 : static_cast<size_t>(header.record_count));
  if (offset > header.total_size) {
    return MakeError(ErrorCode::kCorruptRecord, "log batch at offset {} of {} bytes has {} bytes before its Arrow message",
                     header.base_offset, header.total_size, offset);
  }
  return offset;
}

Result<ProjectionPlan> ProjectionPlan::Make(const model::Schema& batch_schema, const model::Schema& table_schema,
                                            std::span<const int32_t> positions) {
  STROM_TRY(CheckProjection(positions, table_schema.columns.size()));
  const ArrowLayout batch = ArrowLayout::Of(batch_schema);
  const ArrowLayout table = ArrowLayout::Of(table_schema);
  ProjectionPlan plan;
  plan.batch_node_count_ = batch.nodes.size();
  plan.batch_buffer_count_ = batch.buffer_count;
  for (const int32_t position : positions) {
    const model::Column& column = table_schema.columns[static_cast<size_t>(position)];
    const std::optional<size_t> found = batch_schema.FindColumnById(column.id);
    if (found.has_value() && !model::SamePhysicalType(batch_schema.columns[*found].type, column.type)) {
      return MakeError(ErrorCode::kInvalidColumnProjection, "column {} is {}, but {} in an older schema", column.name,
                       column.type.ToString(), batch_schema.columns[*found].type.ToString());
    }
    Run run{.missing = !found.has_value()};
    const ArrowFieldLayout& field = found.has_value() ? batch.fields[*found] : table.fields[static_cast<size_t>(position)];
    run.node_count = field.node_count;
    run.buffer_count = field.buffer_count;
    if (run.missing) {
      run.first_node = static_cast<uint32_t>(plan.missing_nodes_.size());
      plan.missing_nodes_.insert(plan.missing_nodes_.end(), table.nodes.begin() + field.first_node,
                                 table.nodes.begin() + field.first_node + field.node_count);
    } else {
      run.first_node = field.first_node;
      run.first_buffer = field.first_buffer;
    }
    plan.node_count_ += run.node_count;
    plan.buffer_count_ += run.buffer_count;
    if (!plan.runs_.empty()) {
      Run& last = plan.runs_.back();
      if (last.missing == run.missing && last.first_node + last.node_count == run.first_node) {
        last.node_count += run.node_count;
        last.buffer_count += run.buffer_count;
        continue;
      }
    }
    plan.runs_.push_back(run);
  }
  return plan;
}

/// One ProjectBatch() at work.
class BatchProjector {
 public:
  BatchProjector(const ProjectionPlan& plan, const LogBatchHeader& header, ByteView head, ProjectedBatch* projected)
      : plan_(plan), header_(header), head_(head), projected_(*projected) {}

  Status Run() {
    STROM_TRY(OpenMessage());
    const size_t change_types = header_.append_only() ? 0 : static_cast<size_t>(header_.record_count);
    const size_t before_message = header_.header_size() + change_types;
    projected_.body.clear();
    projected_.head.Clear();
    uint8_t* to = projected_.head.Extend(
        before_message + ArrowMetadataBuilder::Size(plan_.node_count_, plan_.buffer_count_, metadata_.codec()));
    ArrowMetadataBuilder builder(to + before_message, metadata_.record_count(), plan_.node_count_, plan_.buffer_count_,
                                 metadata_.codec());
    for (const ProjectionPlan::Run& run : plan_.runs_) {
      STROM_TRY(run.missing ? AddMissing(run, &builder) : AddPresent(run, &builder));
    }
    builder.Finish(body_size_);
    projected_.size = projected_.head.size() + static_cast<uint64_t>(body_size_);
    if (projected_.size > kBatchSizeMax) return TooLarge();
    std::memcpy(to, head_.data(), header_.header_size());
    StoreLe(to + 8, static_cast<int32_t>(projected_.size - kBatchLengthEnd));
    if (header_.magic > 0) StoreLe(to + header_.header_size() - 4, int32_t{0});  // StatisticsLength: the block is left out
    if (change_types > 0) std::memcpy(to + header_.header_size(), head_.data() + message_offset_ - change_types, change_types);
    return Status::OK();
  }

 private:
  Status OpenMessage() {
    STROM_ASSIGN(message_offset_, ArrowMessageOffset(header_));
    if (head_.size() < message_offset_) {
      return MakeError(ErrorCode::kCorruptRecord, "log batch at offset {} ends before its Arrow message", header_.base_offset);
    }
    STROM_ASSIGN(metadata_, ParseArrowMetadata(head_.subspan(message_offset_)));
    body_offset_ = message_offset_ + metadata_.metadata_size();
    if (metadata_.node_count() != plan_.batch_node_count_ || metadata_.buffer_count() != plan_.batch_buffer_count_) {
      return MakeError(ErrorCode::kCorruptRecord, "log batch at offset {} has {} nodes and {} buffers, its schema {} needs {} and {}",
                       header_.base_offset, metadata_.node_count(), metadata_.buffer_count(), header_.schema_id,
                       plan_.batch_node_count_, plan_.batch_buffer_count_);
    }
    if (metadata_.record_count() != header_.record_count) {
      return MakeError(ErrorCode::kCorruptRecord, "log batch at offset {} has {} records, its Arrow message {}", header_.base_offset,
                       header_.record_count, metadata_.record_count());
    }
    if (body_offset_ > header_.total_size || static_cast<uint64_t>(metadata_.body_length()) > header_.total_size - body_offset_) {
      return MakeError(ErrorCode::kCorruptRecord, "log batch at offset {} of {} bytes has an Arrow body of {} bytes at {}",
                       header_.base_offset, header_.total_size, metadata_.body_length(), body_offset_);
    }
    return Status::OK();
  }

  Status AddPresent(const ProjectionPlan::Run& run, ArrowMetadataBuilder* builder) {
    builder->AddNodes(metadata_.node_bytes(run.first_node, run.node_count));
    const size_t end = run.first_buffer + run.buffer_count;
    for (size_t i = run.first_buffer; i < end; ++i) {
      const ArrowBuffer buffer = metadata_.buffer(i);
      builder->AddBuffer({body_size_, buffer.length});
      if (buffer.length > 0) AddBuffer(buffer, i + 1 < plan_.batch_buffer_count_ ? metadata_.buffer(i + 1).offset
                                                                                  : metadata_.body_length());
    }
    // Buffers that overlap could make a small batch as large as one likes.
    if (range_size_ > metadata_.body_length()) {
      return MakeError(ErrorCode::kCorruptRecord, "log batch at offset {}: Arrow buffers overlap", header_.base_offset);
    }
    return Status::OK();
  }

  /// Takes a buffer with its padding, up to where the next one starts: then neighbours are one range.
  void AddBuffer(const ArrowBuffer& buffer, int64_t next_offset) {
    const int64_t padded = PadToArrowAlignment(buffer.length);
    int64_t size = std::min(padded, metadata_.body_length() - buffer.offset);
    const int64_t padding = next_offset - buffer.end();
    if (padding >= 0 && padding <= kPaddingMax && (next_offset - buffer.offset) % 8 == 0) size = next_offset - buffer.offset;
    range_size_ += size;
    Add(BodyPiece::Kind::kRange, body_offset_ + static_cast<uint64_t>(buffer.offset), size);
    if (size < padded) Add(BodyPiece::Kind::kZeros, 0, padded - size);
  }

  /// A column that is null in all records: zeroed validity and values. What is below a list has no entries, what is below a
  /// struct as many as the struct.
  Status AddMissing(const ProjectionPlan::Run& run, ArrowMetadataBuilder* builder) {
    for (size_t i = run.first_node; i < run.first_node + run.node_count; ++i) {
      const ArrowNodeLayout& node = plan_.missing_nodes_[i];
      const int64_t length = node.below_list ? 0 : metadata_.record_count();
      const int64_t bits = (length + 7) / 8;
      const int64_t offsets = length == 0 ? 0 : (length + 1) * 4;
      builder->AddNode({length, length});
      AddZeroBuffer(bits, builder);
      switch (node.kind) {
        case ArrowKind::kBits:
          AddZeroBuffer(bits, builder);
          break;
        case ArrowKind::kFixed:
          AddZeroBuffer(length * node.width, builder);
          break;
        case ArrowKind::kVariable:
          AddZeroBuffer(offsets, builder);
          AddZeroBuffer(0, builder);
          break;
        case ArrowKind::kList:
          AddZeroBuffer(offsets, builder);
          break;
        case ArrowKind::kStruct:
          break;
      }
      if (body_size_ > static_cast<int64_t>(kBatchSizeMax)) return TooLarge();
    }
    return Status::OK();
  }

  /// `size` zero bytes in the form of the batch's codec: uncompressed behind the mark -1. Nothing at all has length 0 with every codec:
  /// all readers take that, while Arrow C++ refuses the 8 zero bytes that Java writes when the codec is LZ4.
  void AddZeroBuffer(int64_t size, ArrowMetadataBuilder* builder) {
    const bool marked = metadata_.codec().has_value() && size > 0;
    builder->AddBuffer({body_size_, marked ? size + 8 : size});
    if (marked) Add(BodyPiece::Kind::kRawMark, 0, 8);
    Add(BodyPiece::Kind::kZeros, 0, PadToArrowAlignment(size));
  }

  void Add(BodyPiece::Kind kind, uint64_t offset, int64_t signed_size) {
    const uint64_t size = static_cast<uint64_t>(signed_size);
    if (size == 0) return;
    body_size_ += signed_size;
    if (!projected_.body.empty()) {
      BodyPiece& last = projected_.body.back();
      if (last.kind == kind && (kind != BodyPiece::Kind::kRange || last.offset + last.size == offset)) {
        last.size += size;
        return;
      }
    }
    projected_.body.push_back({kind, offset, size});
  }

  Error TooLarge() const {
    return MakeError(ErrorCode::kInvalidColumnProjection, "log batch at offset {} would be over 2 GiB when projected: {} records",
                     header_.base_offset, header_.record_count);
  }

  const ProjectionPlan& plan_;
  const LogBatchHeader& header_;
  const ByteView head_;
  ProjectedBatch& projected_;
  ArrowBatchMetadata metadata_;
  size_t message_offset_ = 0;
  size_t body_offset_ = 0;
  int64_t body_size_ = 0;   // of the projection so far
  int64_t range_size_ = 0;  // of that, bytes of the batch
};

Status ProjectBatch(const ProjectionPlan& plan, const LogBatchHeader& header, ByteView head, ProjectedBatch* projected) {
  return BatchProjector(plan, header, head, projected).Run();
}

}  // namespace strom::format
