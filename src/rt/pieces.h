#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "rt/file.h"

namespace strom::rt {

/// A range of a file that goes out by sendfile. It keeps the file open; whoever truncates or deletes the file leaves the
/// bytes of a range in flight alone or the connection ends (spec/server.md 17, W10).
struct FileRange {
  FileRange() = default;
  FileRange(std::shared_ptr<const File> of_file, uint64_t at, uint64_t count)
      : file(std::move(of_file)), position(at), size(count) {}
  std::shared_ptr<const File> file;
  uint64_t position = 0;
  uint64_t size = 0;
};

/// What goes to a socket: bytes in memory and file ranges, in order.
class Pieces {
 public:
  using Piece = std::variant<Buffer, FileRange>;

  void Add(Buffer buffer) {
    if (buffer.empty()) return;
    size_ += buffer.size();
    pieces_.emplace_back(std::move(buffer));
  }
  void Add(FileRange range) {
    if (range.size == 0) return;
    size_ += range.size;
    // Ranges that touch become one sendfile.
    if (!pieces_.empty()) {
      auto* last = std::get_if<FileRange>(&pieces_.back());
      if (last != nullptr && last->file == range.file && last->position + last->size == range.position) {
        last->size += range.size;
        return;
      }
    }
    pieces_.emplace_back(std::move(range));
  }
  void Add(Pieces other) {
    for (Piece& piece : other.pieces_) {
      std::visit([this](auto& each) { Add(std::move(each)); }, piece);
    }
  }
  uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const std::vector<Piece>& pieces() const { return pieces_; }
  /// Takes the pieces out; for whoever sends them.
  std::vector<Piece> Take() && {
    size_ = 0;
    return std::exchange(pieces_, {});
  }

 private:
  std::vector<Piece> pieces_;
  uint64_t size_ = 0;
};

/// All of it in one buffer, file ranges read. For tests, for small answers and for whoever must decode it.
Result<Buffer> Flatten(const Pieces& pieces);

}  // namespace strom::rt
