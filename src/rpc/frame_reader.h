#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/result.h"
#include "rt/connection.h"
#include "rt/task.h"
#include "rt/time.h"

namespace strom::rpc {

/// Cuts a connection's bytes into frames, each a Buffer.
///
/// Small frames that arrive together share the buffer they were read into and are slices of it. A large frame is read straight into a
/// buffer of its own; only what came with the read before it is copied, and once frames are large the reader asks for little more than
/// a header first, so that this is at most kSlack bytes. Counted: bytes_copied(), read_calls().
class FrameReader {
 public:
  static constexpr size_t kChunkMin = 4096;     // bytes asked for when small frames are expected
  static constexpr size_t kChunkMax = 16384;    // grows up to this while reads fill their chunk
  static constexpr size_t kLargeFrame = 8192;   // from here on a frame has a buffer of its own
  static constexpr size_t kSlack = 64;          // room behind a large frame for the head of the next one

  explicit FrameReader(rt::Connection& connection) : connection_(connection), last_read_(rt::Now()) {}

  bool has_length() const { return pending_.size() >= 4; }
  /// Reads until the four length bytes of the next frame are there. Errors are the connection's; kEndOfStream between two frames is a
  /// peer that has finished.
  rt::Task<Status> FillLength();
  ByteView length_bytes() const { return pending_.view().first(4); }

  bool has_frame(uint32_t length) const { return pending_.size() >= size_t{4} + length; }
  /// Reads until the frame of that length is there. The caller has checked the length and has memory for it.
  rt::Task<Status> FillFrame(uint32_t length);
  /// Hands it out, without its length bytes; has_frame() is true.
  Buffer TakeFrame(uint32_t length);

  uint64_t bytes_read() const { return bytes_read_; }
  uint64_t bytes_copied() const { return bytes_copied_; }
  uint64_t read_calls() const { return read_calls_; }
  rt::MonotonicTime last_read() const { return last_read_; }

 private:
  /// Fill() for small frames: a chunk, whose size follows what comes.
  rt::Task<Status> FillChunk(size_t size_min);
  /// Reads once or more into a fresh buffer of `capacity` that begins with what is pending, until `size_min` bytes are there.
  rt::Task<Status> Fill(size_t capacity, size_t size_min);

  rt::Connection& connection_;
  Buffer pending_;  // read and not yet handed out
  size_t chunk_size_ = kChunkMin;
  uint64_t bytes_read_ = 0;
  uint64_t bytes_copied_ = 0;
  uint64_t read_calls_ = 0;
  rt::MonotonicTime last_read_;
};

}  // namespace strom::rpc
