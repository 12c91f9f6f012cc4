#include "rt/file.h"

#include <array>

#include "rt/pieces.h"

namespace strom::rt {

namespace {

std::string ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// Fills `into` from `position`; a file that ends before is an error.
Status ReadExactly(const File& file, uint64_t position, std::span<uint8_t> into) {
  STROM_ASSIGN(const size_t count, file.ReadAt(position, into));
  if (count == into.size()) return {};
  return MakeError(ErrorCode::kIoError, "{}: {} bytes at position {} are wanted, the file ends after {}", file.path(),
                   into.size(), position, count);
}

}  // namespace

Result<Buffer> FileSystem::ReadAll(const std::string& path) {
  STROM_ASSIGN(const std::shared_ptr<File> file, Open(path, {}));
  STROM_ASSIGN(const uint64_t size, file->Size());
  MutableBuffer content(size);
  content.Resize(size);
  STROM_ASSIGN(const size_t count, file->ReadAt(0, content.mutable_view()));
  content.Resize(count);
  return content.Freeze();
}

Status FileSystem::ReplaceFile(const std::string& path, ByteView content) {
  const std::string temporary = path + ".tmp";
  STROM_ASSIGN(const std::shared_ptr<File> file, Open(temporary, {.write = true, .create = true}));
  STROM_TRY(file->Truncate(0));  // a crash may have left one
  const std::array<ByteView, 1> pieces{content};
  STROM_TRY(file->WriteAt(0, pieces));
  STROM_TRY(file->Sync());
  STROM_TRY(Rename(temporary, path));
  return SyncDirectory(ParentOf(path));
}

Result<Buffer> Flatten(const Pieces& pieces) {
  if (pieces.pieces().size() == 1) {
    if (const auto* buffer = std::get_if<Buffer>(&pieces.pieces().front())) return *buffer;
  }
  MutableBuffer flat(pieces.size());
  for (const Pieces::Piece& piece : pieces.pieces()) {
    if (const auto* buffer = std::get_if<Buffer>(&piece)) {
      flat.Append(buffer->view());
    } else {
      const auto& range = std::get<FileRange>(piece);
      STROM_TRY(ReadExactly(*range.file, range.position, {flat.Extend(range.size), range.size}));
    }
  }
  return flat.Freeze();
}

}  // namespace strom::rt
