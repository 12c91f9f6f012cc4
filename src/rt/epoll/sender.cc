#include "rt/epoll/sender.h"

#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

#include "rt/epoll/system_error.h"
#include "rt/runtime.h"

namespace strom::rt {

namespace {

constexpr uint64_t kBytesPerTurn = 4 << 20;
constexpr size_t kVectorsMax = 64;            // of one sendmsg
constexpr uint64_t kSmallRange = 16 << 10;    // bytes; up to here a copy costs less than a call
constexpr uint64_t kGatheredMax = 128 << 10;  // bytes read from files for one sendmsg

uint64_t SizeOf(const Pieces::Piece& piece) {
  if (const auto* buffer = std::get_if<Buffer>(&piece)) return buffer->size();
  return std::get<FileRange>(piece).size;
}

Error SendError(int error) {
  if (error == EPIPE || error == ECONNRESET) {
    return MakeError(ErrorCode::kEndOfStream, "cannot send: the peer has gone ({})", SystemErrorText(error));
  }
  return MakeError(ErrorCode::kIoError, "cannot send: {}", SystemErrorText(error));
}

Error ShortRange(const FileRange& range, uint64_t missing_at) {
  return MakeError(ErrorCode::kIoError, "cannot send {} bytes of {} from position {}: the file ends at {}", range.size,
                   range.file->path(), range.position, missing_at);
}

}  // namespace

Result<Sender::Progress> Sender::Push(int descriptor) {
  sent_in_turn_ = 0;
  while (index_ < pieces_.size()) {
    if (sent_in_turn_ >= kBytesPerTurn) return Progress::kBudgetSpent;
    STROM_TRY(GatherSmallRanges());
    const auto* range = std::get_if<FileRange>(&pieces_[index_]);
    STROM_ASSIGN(const Step step, range != nullptr ? SendRange(descriptor, *range) : SendMemory(descriptor));
    if (step == Step::kBlocked) return Progress::kBlocked;
  }
  return Progress::kDone;
}

/// Turns small ranges among the next pieces into memory; a range that stands alone stays one.
Status Sender::GatherSmallRanges() {
  uint64_t gathered = 0;
  const size_t end = std::min(pieces_.size(), index_ + kVectorsMax);
  if (offset_ > 0 && std::holds_alternative<FileRange>(pieces_[index_])) return {};
  for (size_t i = index_; i < end; ++i) {
    const auto* range = std::get_if<FileRange>(&pieces_[i]);
    if (range == nullptr) continue;
    const bool in_memory_only = range->file->descriptor() < 0;
    const bool alone = i == index_ && (i + 1 == end || SizeOf(pieces_[i + 1]) > kSmallRange);
    if (!in_memory_only && (alone || range->size > kSmallRange || gathered + range->size > kGatheredMax)) break;
    gathered += range->size;
    STROM_TRY(ReadPiece(i));
  }
  return {};
}

Status Sender::ReadPiece(size_t index) {
  const FileRange range = std::get<FileRange>(pieces_[index]);
  MutableBuffer bytes(range.size);
  bytes.Resize(range.size);
  STROM_ASSIGN(const size_t count, range.file->ReadAt(range.position, bytes.mutable_view()));
  if (count < range.size) return ShortRange(range, range.position + count);
  pieces_[index] = bytes.Freeze();
  return {};
}

Result<Sender::Step> Sender::SendMemory(int descriptor) {
  iovec vectors[kVectorsMax];
  size_t count = 0;
  uint64_t offset = offset_;
  size_t next = index_;
  for (; next < pieces_.size() && count < kVectorsMax; ++next, offset = 0) {
    const auto* buffer = std::get_if<Buffer>(&pieces_[next]);
    if (buffer == nullptr) break;
    vectors[count].iov_base = const_cast<uint8_t*>(buffer->data() + offset);
    vectors[count].iov_len = buffer->size() - offset;
    ++count;
  }
  msghdr message{};
  message.msg_iov = vectors;
  message.msg_iovlen = count;
  const int more = next < pieces_.size() ? MSG_MORE : 0;
  for (;;) {
    // send() spares the kernel the copies of header and vector: 2 % of a small answer.
    const ssize_t sent = count == 1 ? ::send(descriptor, vectors[0].iov_base, vectors[0].iov_len, MSG_NOSIGNAL | more)
                                    : ::sendmsg(descriptor, &message, MSG_NOSIGNAL | more);
    ++Counters().write_calls;
    if (sent >= 0) {
      Advance(static_cast<uint64_t>(sent));
      return Step::kSent;
    }
    if (errno == EAGAIN) return Step::kBlocked;
    if (errno != EINTR) return SendError(errno);
  }
}

Result<Sender::Step> Sender::SendRange(int descriptor, const FileRange& range) {
  off_t position = static_cast<off_t>(range.position + offset_);
  const uint64_t wanted = std::min(range.size - offset_, kBytesPerTurn);
  for (;;) {
    const ssize_t sent = ::sendfile(descriptor, range.file->descriptor(), &position, wanted);
    ++Counters().sendfile_calls;
    if (sent > 0) {
      Advance(static_cast<uint64_t>(sent));
      return Step::kSent;
    }
    if (sent == 0) return ShortRange(range, range.position + offset_);
    if (errno == EAGAIN) return Step::kBlocked;
    if (errno != EINTR) return SendError(errno);
  }
}

void Sender::Advance(uint64_t bytes) {
  Counters().bytes_written += bytes;
  sent_in_turn_ += bytes;
  while (bytes > 0) {
    const uint64_t step = std::min(bytes, SizeOf(pieces_[index_]) - offset_);
    offset_ += step;
    bytes -= step;
    if (offset_ < SizeOf(pieces_[index_])) break;
    pieces_[index_] = Buffer();  // what is sent needs not stay in memory
    ++index_;
    offset_ = 0;
  }
}

}  // namespace strom::rt
