#include "meta/directory_seal.h"

#include <fmt/format.h>

#include <vector>

#include "base/crc32c.h"
#include "rt/file.h"

namespace strom::meta {
namespace {

constexpr std::string_view kSealName = "SEAL";

std::string SealPath(const std::string& directory) { return directory + "/" + std::string(kSealName); }

/// Files that are no data: RocksDB writes them at will and reads nothing from them.
bool IsData(const std::string& name) {
  return name != kSealName && name != "LOCK" && !name.starts_with("LOG") && !name.starts_with("OPTIONS-") && name != "IDENTITY" &&
         !name.ends_with(".tmp") && !name.ends_with(".dbtmp") && !name.ends_with(".cut");
}

struct Line {
  std::string name;
  std::string text;
};

Result<std::vector<Line>> Lines(const std::string& directory) {
  rt::FileSystem& files = rt::SystemFiles();
  STROM_ASSIGN(std::vector<rt::DirectoryEntry> entries, files.List(directory));
  std::vector<Line> lines;
  for (const rt::DirectoryEntry& entry : entries) {
    if (entry.is_directory || !IsData(entry.name)) continue;
    STROM_ASSIGN(Buffer content, files.ReadAll(directory + "/" + entry.name));
    lines.push_back({entry.name, fmt::format("{:08x} {} {}\n", Crc32c(content.view()), content.size(), entry.name)});
  }
  return lines;
}

std::string LastLine(const std::string& text) { return fmt::format("{:08x} seal\n", Crc32c(AsBytes(text))); }

}  // namespace

Status WriteSeal(const std::string& directory) {
  STROM_ASSIGN(std::vector<Line> lines, Lines(directory));
  std::string text;
  for (const Line& line : lines) text += line.text;
  text += LastLine(text);
  return rt::SystemFiles().ReplaceFile(SealPath(directory), AsBytes(text));
}

Result<bool> CheckSeal(const std::string& directory) {
  STROM_ASSIGN(bool there, rt::SystemFiles().Exists(SealPath(directory)));
  if (!there) return false;
  STROM_ASSIGN(Buffer seal, rt::SystemFiles().ReadAll(SealPath(directory)));
  STROM_ASSIGN(std::vector<Line> lines, Lines(directory));
  std::string text;
  for (const Line& line : lines) text += line.text;
  if (seal.text() == text + LastLine(text)) return true;
  for (const Line& line : lines) {
    if (seal.text().find(line.text) == std::string_view::npos) {
      return MakeError(ErrorCode::kCorruptData,
                       "the metadata store is damaged: {}/{} is not what it was when the store was closed. Nothing was changed; "
                       "restore the directory from a copy",
                       directory, line.name);
    }
  }
  return MakeError(ErrorCode::kCorruptData,
                   "the metadata store is damaged: files of {} are missing, or its list of files ({}) has changed. Nothing was "
                   "changed; restore the directory from a copy",
                   directory, SealPath(directory));
}

Status BreakSeal(const std::string& directory) {
  STROM_TRY(rt::SystemFiles().Remove(SealPath(directory)));
  return rt::SystemFiles().SyncDirectory(directory);
}

}  // namespace strom::meta
