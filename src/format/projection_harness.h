#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "format/arrow_projection.h"
#include "rt/file.h"

namespace strom::format {

/// A read-only file in memory, for tests and fuzz entries. Counts what is read of it.
class MemoryFile final : public rt::File {
 public:
  explicit MemoryFile(Buffer content) : content_(std::move(content)) {}

  Result<size_t> ReadAt(uint64_t position, std::span<uint8_t> into) const override {
    const size_t size = position >= content_.size() ? 0 : std::min<size_t>(into.size(), content_.size() - position);
    if (size > 0) std::memcpy(into.data(), content_.data() + position, size);
    ++reads_;
    bytes_read_ += size;
    return size;
  }
  Status WriteAt(uint64_t, std::span<const ByteView>) override { return MakeError(ErrorCode::kIoError, "read only"); }
  Result<uint64_t> Size() const override { return content_.size(); }
  Status Truncate(uint64_t) override { return MakeError(ErrorCode::kIoError, "read only"); }
  Status Sync() override { return Status::OK(); }
  int descriptor() const override { return -1; }
  const std::string& path() const override { return path_; }

  uint64_t reads() const { return reads_; }
  uint64_t bytes_read() const { return bytes_read_; }

 private:
  const Buffer content_;
  const std::string path_ = "memory";
  mutable uint64_t reads_ = 0;
  mutable uint64_t bytes_read_ = 0;
};

/// One projected batch with its body in one buffer.
inline Buffer Assemble(const ProjectedBatch& projected, ByteView batch) {
  MutableBuffer whole;
  whole.Append(projected.head.view());
  for (const BodyPiece& piece : projected.body) {
    if (piece.kind == BodyPiece::Kind::kRange) {
      whole.Append(batch.subspan(piece.offset, piece.size));
    } else {
      std::memset(whole.Extend(piece.size), piece.kind == BodyPiece::Kind::kZeros ? 0 : 0xFF, piece.size);
    }
  }
  STROM_ASSERT(whole.size() == projected.size, "{} bytes, {} announced", whole.size(), projected.size);
  return whole.Freeze();
}

inline Result<Buffer> ProjectForTest(const Buffer& batch, const model::Schema& batch_schema, const model::Schema& table_schema,
                                     std::span<const int32_t> positions) {
  STROM_ASSIGN(const ProjectionPlan plan, ProjectionPlan::Make(batch_schema, table_schema, positions));
  STROM_ASSIGN(const LogBatchHeader header, DecodeLogBatchHeader(batch.view()));
  ProjectedBatch projected;
  STROM_TRY(ProjectBatch(plan, header, batch.view(), &projected));
  return Assemble(projected, batch.view());
}

}  // namespace strom::format
