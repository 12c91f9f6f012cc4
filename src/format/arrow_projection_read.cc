#include "format/arrow_projection_read.h"

#include <algorithm>
#include <cstring>

namespace strom::format {
namespace {

/// The first read of a batch: its header and, for tables of up to some 80 columns, all of its Arrow metadata.
constexpr uint64_t kHeadReadSize = 4 << 10;
/// Batches up to this are read whole: one read of kWindowSize brings many of them, and a read of a few KiB more costs less CPU than
/// the system calls that would leave those bytes out.
constexpr uint64_t kSmallBatchMax = 16 << 10;
constexpr uint64_t kWindowSize = 64 << 10;
/// Column buffers up to this are copied, larger ones are sent from the file. A sendfile among memory pieces takes two system calls
/// (itself and the write that follows), about what copying this much twice takes.
constexpr uint64_t kCopyMax = 16 << 10;
/// Wanted buffers with less than this between them are read at once.
constexpr uint64_t kGapMax = 4 << 10;

/// A window on the slice that moves forward.
class SliceWindow {
 public:
  SliceWindow(const rt::File& file, uint64_t position, uint64_t size) : file_(file), end_(position + size) {}

  /// [position, position + size) of the file, valid until the next call. Reads up to `ahead` bytes when it must read, never beyond the slice.
  Result<ByteView> View(uint64_t position, uint64_t size, uint64_t ahead) {
    if (position > end_ || size > end_ - position) {
      return MakeError(ErrorCode::kCorruptData, "{}: {} bytes at {} are beyond the batches, which end at {}", file_.path(), size, position, end_);
    }
    if (position < start_ || position + size > start_ + window_.size()) {
      const uint64_t wanted = std::min(std::max(size, ahead), end_ - position);
      window_.Clear();  // so that growing copies nothing
      window_.Resize(wanted);
      start_ = position;
      Result<size_t> read = file_.ReadAt(position, window_.mutable_view());
      if (!read.ok() || read.value() != wanted) {
        window_.Clear();
        if (!read.ok()) return read.error();
        return MakeError(ErrorCode::kCorruptData, "{} ends at {}, batches were to end at {}", file_.path(), position + read.value(), end_);
      }
    }
    return window_.view().subspan(position - start_, size);
  }

 private:
  const rt::File& file_;
  const uint64_t end_;
  uint64_t start_ = 0;
  MutableBuffer window_;
};

/// Zero bytes for columns that old batches lack.
const Buffer& Zeros() {
  static const Buffer zeros = [] {
    MutableBuffer bytes(kWindowSize);
    std::memset(bytes.Extend(kWindowSize), 0, kWindowSize);
    return bytes.Freeze();
  }();
  return zeros;
}

/// Pieces under construction: bytes in memory that follow each other become one piece.
class PiecesWriter {
 public:
  void Add(ByteView bytes) { memory_.Append(bytes); }
  void Add(rt::FileRange range) {
    Flush();
    pieces_.Add(std::move(range));
  }
  void AddZeros(uint64_t size) {
    if (size <= kCopyMax) {
      Fill(0, size);
      return;
    }
    Flush();
    for (; size > 0; size -= std::min<uint64_t>(size, kWindowSize)) {
      pieces_.Add(Zeros().Slice(0, std::min<uint64_t>(size, kWindowSize)));
    }
  }
  void Fill(uint8_t byte, uint64_t size) { std::memset(memory_.Extend(size), byte, size); }
  rt::Pieces Take() {
    Flush();
    return std::move(pieces_);
  }

 private:
  void Flush() {
    if (memory_.size() > 0) pieces_.Add(memory_.Freeze());
  }

  MutableBuffer memory_;
  rt::Pieces pieces_;
};

/// One ProjectSlice() at work.
class SliceProjector {
 public:
  SliceProjector(const ProjectSliceRequest& request, const SchemaLookup& schemas, ProjectionCache* cache)
      : request_(request),
        schemas_(schemas),
        cache_(*cache),
        window_(*request.file, request.position, request.size),
        position_(request.position),
        end_(request.position + request.size),
        remaining_(request.max_bytes) {
    read_.next_offset = request.first_offset;
  }

  Result<ProjectedRead> Run() {
    bool last_dropped = false;
    while (position_ < end_) {
      const Result<Step> step = Next();
      if (!step.ok()) {
        // What came before the bad batch is good: the next fetch begins at it and gets the error.
        if (half_sent_ || read_.batches_sent + read_.batches_dropped == 0) return step.error();
        break;
      }
      if (step.value() == Step::kFull) break;
      last_dropped = step.value() == Step::kDropped;
    }
    read_.complete = position_ == end_;
    if (last_dropped && (read_.complete || read_.batches_sent == 0)) read_.filtered_end_offset = read_.next_offset;
    read_.records = writer_.Take();
    return std::move(read_);
  }

 private:
  enum class Step { kSent, kDropped, kFull };

  /// Deals with the batch at position_ and moves on, unless it does not fit any more.
  Result<Step> Next() {
    STROM_ASSIGN(const ByteView start, window_.View(position_, std::min<uint64_t>(kBatchHeaderSizeMax, end_ - position_), head_read_));
    STROM_ASSIGN(header_, DecodeLogBatchHeader(start));
    if (header_.total_size > end_ - position_) {
      return MakeError(ErrorCode::kCorruptData, "{}: the log batch at {} has {} bytes, only {} are committed", request_.file->path(),
                       position_, header_.total_size, end_ - position_);
    }
    STROM_ASSIGN(const bool kept, Keeps());
    if (!kept) {
      ++read_.batches_dropped;
      Advance();
      return Step::kDropped;
    }
    const bool must_send = request_.min_one_batch && read_.batches_sent == 0;
    if (header_.total_size == header_.header_size()) return SendUnchanged(must_send);
    if (!must_send && remaining_ <= kBatchHeaderSizeV0) return Step::kFull;
    return request_.positions.empty() ? SendWhole(must_send) : SendProjected(must_send);
  }

  Result<bool> Keeps() {
    if (request_.filter == nullptr || header_.statistics_length == 0) return true;
    const size_t size = header_.header_size() + static_cast<size_t>(header_.statistics_length);
    STROM_ASSIGN(const ByteView head, window_.View(position_, size, head_read_));
    return request_.filter->MayMatch(header_, head.subspan(header_.header_size()));
  }

  /// An empty batch: only its header, which carries an offset and the writer's state.
  Result<Step> SendUnchanged(bool must_send) {
    if (!must_send && remaining_ <= kBatchHeaderSizeV0) return Step::kFull;
    STROM_ASSIGN(const ByteView batch, window_.View(position_, header_.total_size, head_read_));
    writer_.Add(batch);
    return Sent(0);
  }

  Result<Step> SendWhole(bool must_send) {
    if (!must_send && header_.total_size > remaining_) return Step::kFull;
    writer_.Add(rt::FileRange{request_.file, position_, header_.total_size});
    return Sent(header_.total_size);
  }

  Result<Step> SendProjected(bool must_send) {
    // The first batch raises the limit to its own size.
    if (must_send) remaining_ = std::max<uint64_t>(remaining_, header_.total_size);
    STROM_TRY(FindPlan());
    STROM_ASSIGN(const ByteView head, ReadHead());
    STROM_TRY(ProjectBatch(*plan_, header_, head, &projected_));
    if (!must_send && projected_.size > remaining_) return Step::kFull;
    half_sent_ = true;
    writer_.Add(projected_.head.view());
    STROM_TRY(AddBody());
    half_sent_ = false;
    return Sent(projected_.size);
  }

  Status FindPlan() {
    if (plan_ != nullptr && plan_schema_ == header_.schema_id) return Status::OK();
    STROM_ASSIGN(plan_, cache_.Plan(SchemaId(header_.schema_id), request_.table_schema, request_.positions, schemas_));
    plan_schema_ = header_.schema_id;
    return Status::OK();
  }

  /// The batch from its header through its Arrow metadata; of a small one, all.
  Result<ByteView> ReadHead() {
    if (header_.total_size <= kSmallBatchMax) {
      head_read_ = kWindowSize;  // small batches come together
      return window_.View(position_, header_.total_size, kWindowSize);
    }
    STROM_ASSIGN(const size_t message, ArrowMessageOffset(header_));
    const uint64_t prefix = std::min<uint64_t>(message + kArrowPrefixSize, header_.total_size);
    STROM_ASSIGN(const ByteView start, window_.View(position_, prefix, prefix + kHeadReadSize));
    STROM_ASSIGN(const size_t metadata_size, ReadArrowMetadataSize(start.subspan(message)));
    // Batches of one writer have metadata of one size: the next one is read at once.
    const uint64_t size = std::min<uint64_t>(message + metadata_size, header_.total_size);
    head_read_ = std::max(kHeadReadSize, size);
    return window_.View(position_, size, size);
  }

  Status AddBody() {
    const std::vector<BodyPiece>& body = projected_.body;
    for (size_t i = 0; i < body.size();) {
      switch (body[i].kind) {
        case BodyPiece::Kind::kZeros:
          writer_.AddZeros(body[i++].size);
          break;
        case BodyPiece::Kind::kRawMark:
          writer_.Fill(0xFF, body[i++].size);
          break;
        case BodyPiece::Kind::kRange:
          if (body[i].size <= kCopyMax || header_.total_size <= kSmallBatchMax) {
            STROM_TRY(CopyRanges(&i));
          } else {
            writer_.Add(rt::FileRange{request_.file, position_ + body[i].offset, body[i].size});
            ++i;
          }
          break;
      }
    }
    return Status::OK();
  }

  /// Copies the range at body[*i] and those after it that are small and near; moves *i behind them.
  Status CopyRanges(size_t* i) {
    const std::vector<BodyPiece>& body = projected_.body;
    const uint64_t start = body[*i].offset;
    uint64_t end = start + body[*i].size;
    size_t last = *i + 1;
    for (; last < body.size() && body[last].kind == BodyPiece::Kind::kRange; ++last) {
      const BodyPiece& next = body[last];
      if (next.size > kCopyMax || next.offset < end || next.offset - end > kGapMax || next.offset + next.size - start > kWindowSize) break;
      end = next.offset + next.size;
    }
    STROM_ASSIGN(const ByteView bytes, window_.View(position_ + start, end - start, 0));
    for (; *i < last; ++*i) writer_.Add(bytes.subspan(body[*i].offset - start, body[*i].size));
    return Status::OK();
  }

  Step Sent(uint64_t size) {
    remaining_ -= std::min(remaining_, size);
    ++read_.batches_sent;
    Advance();
    return Step::kSent;
  }

  void Advance() {
    position_ += header_.total_size;
    read_.next_offset = header_.next_offset();
  }

  const ProjectSliceRequest& request_;
  const SchemaLookup& schemas_;
  ProjectionCache& cache_;
  SliceWindow window_;
  uint64_t position_;  // of the current batch in the file
  const uint64_t end_;
  uint64_t remaining_;  // of the size limit
  uint64_t head_read_ = kHeadReadSize;  // how much to read from the start of the next batch
  LogBatchHeader header_;
  std::shared_ptr<const ProjectionPlan> plan_;
  int16_t plan_schema_ = 0;
  ProjectedBatch projected_;
  PiecesWriter writer_;
  bool half_sent_ = false;  // writer_ holds the start of a batch whose rest may not be readable
  ProjectedRead read_;
};

}  // namespace

Result<std::shared_ptr<const ProjectionPlan>> ProjectionCache::Plan(SchemaId batch_schema, SchemaId table_schema,
                                                                    std::span<const int32_t> positions, const SchemaLookup& schemas) {
  Key key(batch_schema, table_schema, {positions.begin(), positions.end()});
  if (const auto found = plans_.find(key); found != plans_.end()) return found->second;
  const std::shared_ptr<const model::Schema> batch = schemas(batch_schema);
  const std::shared_ptr<const model::Schema> table = schemas(table_schema);
  if (batch == nullptr || table == nullptr) {
    return MakeError(ErrorCode::kSchemaNotExist, "schema {} is not known", batch == nullptr ? batch_schema : table_schema);
  }
  STROM_ASSIGN(ProjectionPlan plan, ProjectionPlan::Make(*batch, *table, positions));
  if (plans_.size() >= kPlansMax) plans_.clear();
  auto shared = std::make_shared<const ProjectionPlan>(std::move(plan));
  plans_.emplace(std::move(key), shared);
  return shared;
}

Result<ProjectedRead> ProjectSlice(const ProjectSliceRequest& request, const SchemaLookup& schemas, ProjectionCache* cache) {
  if (request.size == 0) {
    ProjectedRead empty;
    empty.next_offset = request.first_offset;
    empty.complete = true;
    return empty;
  }
  return SliceProjector(request, schemas, cache).Run();
}

}  // namespace strom::format
