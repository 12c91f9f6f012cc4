#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/random.h"
#include "rt/file.h"

namespace strom::rt::testing {

/// A disk in memory that can crash in the two ways that matter (design.md 10):
///
/// - *process crash*: everything that was written stays, the last write may have stopped after any byte;
/// - *power loss*: of what was not synced, any 512-byte sectors of any pages may be there or not, a file may have its old size, its new one, or
///   one between with zeros inside, and of the names of a directory any first part of the changes since its last sync is there.
///
/// Handles opened before a crash are dead after it. The same seed and the same calls give the same disk. Thread safe.
class SimulatedDisk final : public rt::FileSystem {
 public:
  struct Counters {
    uint64_t opens = 0;
    uint64_t reads = 0;
    uint64_t writes = 0;
    uint64_t bytes_read = 0;
    uint64_t bytes_written = 0;
    uint64_t file_syncs = 0;
    uint64_t directory_syncs = 0;
    uint64_t mutations = 0;  // writes, truncations, syncs, changes of names
  };

  explicit SimulatedDisk(uint64_t seed) : random_(seed) {}

  // rt::FileSystem
  Result<std::shared_ptr<rt::File>> Open(const std::string& path, OpenOptions options) override;
  Status CreateDirectories(const std::string& path) override;
  Result<std::vector<rt::DirectoryEntry>> List(const std::string& path) override;
  Result<bool> Exists(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path) override;
  Status RemoveTree(const std::string& path) override;
  Status SyncDirectory(const std::string& path) override;
  Result<rt::DiskUsage> Usage(const std::string& path) override;

  /// The disk dies in the middle of the `mutations`-th mutation from now on (0: the very next): everything fails until a restart.
  void CrashAfter(uint64_t mutations);
  bool crashed() const;
  /// The machine goes on: all was written that was written.
  void RestartAfterProcessCrash();
  void RestartAfterPowerLoss();

  /// Writes that would bring the disk above this fail with kNoSpace, after what still fits was written.
  void SetCapacity(uint64_t bytes);
  /// Every sync fails from now on, or no longer.
  void FailSyncs(bool fail);
  /// Handles that are open, as the caller counts descriptors.
  int64_t open_handles() const;

  Counters counters() const;
  /// Writes whose path ends so; counted from the start.
  uint64_t writes_to(const std::string& suffix) const;

  // For tests that damage files: no mutation is counted, and the content counts as synced.
  std::vector<uint8_t> ContentOf(const std::string& path) const;
  void SetContent(const std::string& path, std::vector<uint8_t> content);
  /// All files below `path`, sorted.
  std::vector<std::string> FilesBelow(const std::string& path) const;
  /// A copy of everything as it is now, as if all was synced.
  std::unique_ptr<SimulatedDisk> Clone(uint64_t seed) const;

 private:
  class OpenFile;
  static constexpr uint64_t kPageSize = 4096;
  static constexpr uint64_t kSectorSize = 512;

  struct Node;
  using NodePtr = std::shared_ptr<Node>;
  /// A change of a directory's names that is not synced: puts `node` under `name`, or takes the name away.
  struct NameChange {
    struct One {
      std::string name;
      NodePtr node;  // null: removed
    };
    std::vector<One> changes;  // a rename is two at once
  };
  struct Node {
    bool is_directory = false;
    // Files.
    std::vector<uint8_t> content;
    uint64_t durable_size = 0;
    std::map<uint64_t, std::vector<uint8_t>> dirty;  // page -> what is durable of it
    // Directories.
    std::map<std::string, NodePtr> names;
    std::map<std::string, NodePtr> durable_names;
    std::vector<NameChange> changes;
  };

  static NodePtr MakeDirectory();
  NodePtr Find(const std::string& path) const;
  /// The directory of `path`, and the last part of it.
  Result<std::pair<NodePtr, std::string>> FindParent(const std::string& path) const;
  void Change(Node& directory, NameChange change);
  /// Counts one mutation; true when the disk dies in it.
  bool CountMutation();
  Status Dead(const std::string& path) const;
  void MarkDirty(Node& file, uint64_t begin, uint64_t end);
  Result<size_t> ReadFile(const Node& file, uint64_t position, std::span<uint8_t> into);
  Status WriteFile(Node& file, const std::string& path, uint64_t position, std::span<const ByteView> pieces);
  Status TruncateFile(Node& file, const std::string& path, uint64_t size);
  Status SyncFile(Node& file, const std::string& path);
  void LosePower(Node& node);
  void LosePages(Node& file);
  static NodePtr CopyOf(const Node& node);
  static uint64_t BytesIn(const Node& node);

  mutable std::mutex mutex_;
  Random random_;
  NodePtr root_ = MakeDirectory();
  uint64_t life_ = 0;  // handles of an earlier one are dead
  bool crashed_ = false;
  uint64_t mutations_left_ = UINT64_MAX;
  uint64_t capacity_ = UINT64_MAX;
  uint64_t used_ = 0;
  bool fail_syncs_ = false;
  int64_t open_handles_ = 0;
  Counters counters_;
  std::map<std::string, uint64_t> writes_by_suffix_;
};

}  // namespace strom::rt::testing
