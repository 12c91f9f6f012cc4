#include "format/arrow_compression.h"

#include <lz4frame.h>
#include <zstd.h>

#include <algorithm>

namespace strom::format {
namespace {

constexpr size_t kLengthSize = 8;
constexpr int64_t kStoredRaw = -1;
/// How much the room grows at a time, so that a frame that lies about its size costs little.
constexpr size_t kGrowth = 256 << 10;

Error Broken(std::string_view what) { return MakeError(ErrorCode::kCorruptRecord, "compressed Arrow buffer: {}", what); }

LZ4F_preferences_t FramePreferences() {
  LZ4F_preferences_t preferences = LZ4F_INIT_PREFERENCES;
  preferences.frameInfo.blockSizeID = LZ4F_max64KB;
  preferences.frameInfo.blockMode = LZ4F_blockIndependent;
  return preferences;
}

}  // namespace

struct ArrowCompressor::State {
  ZSTD_CCtx* zstd = nullptr;
  MutableBuffer frame;
  ~State() { ZSTD_freeCCtx(zstd); }
};

ArrowCompressor::ArrowCompressor(ArrowCompression compression) : compression_(compression), state_(std::make_unique<State>()) {}
ArrowCompressor::~ArrowCompressor() = default;

Status ArrowCompressor::Append(ByteView bytes, MutableBuffer* out) {
  if (bytes.empty()) return Status::OK();
  if (!compression_.codec.has_value()) {
    out->Append(bytes);
    return Status::OK();
  }
  const size_t start = out->size();
  StoreLe(out->Extend(kLengthSize), static_cast<int64_t>(bytes.size()));
  STROM_ASSIGN(const bool smaller, AppendFrame(bytes, out));
  if (!smaller) {
    out->Resize(start + kLengthSize);
    StoreLe(out->data() + start, kStoredRaw);
    out->Append(bytes);
  }
  return Status::OK();
}

Result<bool> ArrowCompressor::AppendFrame(ByteView bytes, MutableBuffer* out) {
  MutableBuffer& frame = state_->frame;
  size_t size = 0;
  if (*compression_.codec == ArrowCodec::kZstd) {
    if (state_->zstd == nullptr) state_->zstd = ZSTD_createCCtx();
    frame.Resize(ZSTD_compressBound(bytes.size()));
    size = ZSTD_compressCCtx(state_->zstd, frame.data(), frame.size(), bytes.data(), bytes.size(), compression_.zstd_level);
    if (ZSTD_isError(size)) {
      return MakeError(ErrorCode::kUnknownServerError, "ZSTD of {} bytes at level {}: {}", bytes.size(), compression_.zstd_level,
                       ZSTD_getErrorName(size));
    }
  } else {
    const LZ4F_preferences_t preferences = FramePreferences();
    frame.Resize(LZ4F_compressFrameBound(bytes.size(), &preferences));
    size = LZ4F_compressFrame(frame.data(), frame.size(), bytes.data(), bytes.size(), &preferences);
    if (LZ4F_isError(size)) {
      return MakeError(ErrorCode::kUnknownServerError, "LZ4 of {} bytes: {}", bytes.size(), LZ4F_getErrorName(size));
    }
  }
  if (size >= bytes.size()) return false;
  out->Append(frame.view().first(size));
  return true;
}

namespace {

struct FreeZstd {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};
struct FreeLz4 {
  void operator()(LZ4F_dctx* context) const { LZ4F_freeDecompressionContext(context); }
};

/// Runs `step(to, to_size*, from, from_size*)` over the frame until it holds `size` bytes. Step sets how much it wrote and read and
/// returns 0 at the frame's end, 1 when there is more, -1 on an error.
template <typename StepFunction>
Result<ByteView> DecompressFrame(ByteView frame, uint64_t size, MutableBuffer* room, StepFunction step) {
  room->Clear();
  while (true) {
    const size_t filled = room->size();
    // One byte more than announced shows a frame that holds too much.
    const size_t space = static_cast<size_t>(std::min<uint64_t>(size - filled + 1, kGrowth));
    size_t written = space;
    size_t taken = frame.size();
    const int more = step(room->Extend(space), &written, frame.data(), &taken);
    room->Resize(filled + (more < 0 ? 0 : written));
    if (more < 0) return Broken("the frame is damaged");
    frame = frame.subspan(taken);
    if (room->size() > size) return MakeError(ErrorCode::kCorruptRecord, "compressed Arrow buffer: more than its announced {} bytes", size);
    if (more == 0) break;
    if (written == 0 && taken == 0) return Broken("the frame is cut off");
  }
  if (room->size() != size) {
    return MakeError(ErrorCode::kCorruptRecord, "compressed Arrow buffer: {} bytes, {} were announced", room->size(), size);
  }
  return room->view();
}

Result<ByteView> DecompressZstd(ByteView frame, uint64_t size, MutableBuffer* room) {
  const std::unique_ptr<ZSTD_DCtx, FreeZstd> context(ZSTD_createDCtx());
  return DecompressFrame(frame, size, room, [&](uint8_t* to, size_t* to_size, const uint8_t* from, size_t* from_size) {
    ZSTD_outBuffer output{to, *to_size, 0};
    ZSTD_inBuffer input{from, *from_size, 0};
    const size_t hint = ZSTD_decompressStream(context.get(), &output, &input);
    *to_size = output.pos;
    *from_size = input.pos;
    return ZSTD_isError(hint) ? -1 : hint == 0 ? 0 : 1;
  });
}

Result<ByteView> DecompressLz4(ByteView frame, uint64_t size, MutableBuffer* room) {
  LZ4F_dctx* raw = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&raw, LZ4F_VERSION))) return Broken("no memory for LZ4");
  const std::unique_ptr<LZ4F_dctx, FreeLz4> context(raw);
  return DecompressFrame(frame, size, room, [&](uint8_t* to, size_t* to_size, const uint8_t* from, size_t* from_size) {
    const size_t hint = LZ4F_decompress(context.get(), to, to_size, from, from_size, nullptr);
    return LZ4F_isError(hint) ? -1 : hint == 0 ? 0 : 1;
  });
}

}  // namespace

Result<ByteView> DecompressArrowBuffer(std::optional<ArrowCodec> codec, ByteView stored, uint64_t size_max, MutableBuffer* room) {
  if (!codec.has_value() || stored.empty()) return stored;
  if (stored.size() < kLengthSize) return Broken("fewer than 8 bytes");
  const int64_t size = LoadLe<int64_t>(stored.data());
  const ByteView content = stored.subspan(kLengthSize);
  if (size == kStoredRaw) return content;
  if (size < 0) return MakeError(ErrorCode::kCorruptRecord, "compressed Arrow buffer: {} bytes are announced", size);
  if (static_cast<uint64_t>(size) > size_max) {
    return MakeError(ErrorCode::kCorruptRecord, "compressed Arrow buffer: {} bytes are announced, at most {} are possible", size, size_max);
  }
  if (size == 0) return ByteView();
  return *codec == ArrowCodec::kZstd ? DecompressZstd(content, static_cast<uint64_t>(size), room)
                                     : DecompressLz4(content, static_cast<uint64_t>(size), room);
}

}  // namespace strom::format
