#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/result.h"
#include "rt/connection.h"
#include "rt/sync.h"

namespace strom::rpc::testing {

/// Two ends of a byte stream in memory, for tests: deterministic, on any executor. A direction holds at most `capacity` bytes, then its
/// writer waits; a reader gets at most `read_max` bytes a call.
class MemoryConnection final : public rt::Connection {
 public:
  struct Options {
    size_t capacity = SIZE_MAX;
    size_t read_max = SIZE_MAX;
  };
  using Pair = std::pair<std::unique_ptr<MemoryConnection>, std::unique_ptr<MemoryConnection>>;

  static Pair MakePair(Options options) {
    auto forth = std::make_shared<Direction>();
    auto back = std::make_shared<Direction>();
    return {std::unique_ptr<MemoryConnection>(new MemoryConnection(options, forth, back)),
            std::unique_ptr<MemoryConnection>(new MemoryConnection(options, back, forth))};
  }
  static Pair MakePair() { return MakePair(Options{}); }
  ~MemoryConnection() override { Close(); }

  rt::Task<Result<size_t>> Read(std::span<uint8_t> into) override {
    ++read_calls_;
    while (in_->bytes.empty()) {
      if (closed_) co_return MakeError(ErrorCode::kCancelled, "closed");
      if (in_->finished) co_return MakeError(ErrorCode::kEndOfStream, "the peer has closed");
      co_await in_->changed.Wait();
    }
    if (closed_) co_return MakeError(ErrorCode::kCancelled, "closed");
    const size_t count = std::min({into.size(), in_->bytes.size(), options_.read_max});
    std::copy_n(in_->bytes.begin(), count, into.begin());
    in_->bytes.erase(0, count);
    in_->changed.NotifyAll();
    co_return count;
  }
  rt::Task<Status> Write(rt::Pieces pieces) override {
    ++write_calls_;
    const Result<Buffer> flat = rt::Flatten(pieces);
    if (!flat.ok()) co_return flat.status();
    std::string_view left = flat->text();
    while (!left.empty()) {
      if (closed_) co_return MakeError(ErrorCode::kCancelled, "closed");
      if (out_->abandoned) co_return MakeError(ErrorCode::kIoError, "the peer is gone");
      const size_t room = options_.capacity - std::min(options_.capacity, out_->bytes.size());
      if (room == 0) {
        co_await out_->changed.Wait();
        continue;
      }
      out_->bytes += left.substr(0, room);
      left.remove_prefix(std::min(room, left.size()));
      out_->changed.NotifyAll();
    }
    co_return Status::OK();
  }
  /// The peer reads to the end; this side still reads.
  void FinishWriting() {
    out_->finished = true;
    out_->changed.NotifyAll();
  }
  void Close() override {
    if (closed_) return;
    closed_ = true;
    in_->abandoned = true;
    in_->changed.NotifyAll();
    FinishWriting();
  }
  bool closed() const override { return closed_; }
  const std::string& peer_address() const override { return peer_address_; }

  /// What the peer has written and nobody has read yet.
  const std::string& unread() const { return in_->bytes; }
  bool peer_finished() const { return in_->finished; }
  size_t read_calls() const { return read_calls_; }
  size_t write_calls() const { return write_calls_; }

 private:
  struct Direction {
    std::string bytes;
    bool finished = false;   // by its writer
    bool abandoned = false;  // by its reader
    rt::Event changed;
  };
  MemoryConnection(Options options, std::shared_ptr<Direction> in, std::shared_ptr<Direction> out)
      : options_(options), in_(std::move(in)), out_(std::move(out)) {}

  const Options options_;
  std::shared_ptr<Direction> in_;  // shared by the two ends, either of which may die first
  std::shared_ptr<Direction> out_;
  bool closed_ = false;
  size_t read_calls_ = 0;
  size_t write_calls_ = 0;
  std::string peer_address_ = "memory:1";
};

}  // namespace strom::rpc::testing
