#include "rt/testing/simulated_disk.h"

#include <algorithm>

namespace strom::rt::testing {

class SimulatedDisk::OpenFile final : public rt::File {
 public:
  OpenFile(SimulatedDisk* disk, NodePtr node, std::string path, uint64_t life)
      : disk_(disk), node_(std::move(node)), path_(std::move(path)), life_(life) {
    ++disk_->open_handles_;
  }
  ~OpenFile() override {
    const std::lock_guard lock(disk_->mutex_);
    --disk_->open_handles_;
  }

  Result<size_t> ReadAt(uint64_t position, std::span<uint8_t> into) const override {
    const std::lock_guard lock(disk_->mutex_);
    if (dead()) return disk_->Dead(path_).error();
    return disk_->ReadFile(*node_, position, into);
  }
  Status WriteAt(uint64_t position, std::span<const ByteView> pieces) override {
    const std::lock_guard lock(disk_->mutex_);
    if (dead()) return disk_->Dead(path_);
    return disk_->WriteFile(*node_, path_, position, pieces);
  }
  Result<uint64_t> Size() const override {
    const std::lock_guard lock(disk_->mutex_);
    if (dead()) return disk_->Dead(path_).error();
    return static_cast<uint64_t>(node_->content.size());
  }
  Status Truncate(uint64_t size) override {
    const std::lock_guard lock(disk_->mutex_);
    if (dead()) return disk_->Dead(path_);
    return disk_->TruncateFile(*node_, path_, size);
  }
  Status Sync() override {
    const std::lock_guard lock(disk_->mutex_);
    if (dead()) return disk_->Dead(path_);
    return disk_->SyncFile(*node_, path_);
  }
  int descriptor() const override { return -1; }
  const std::string& path() const override { return path_; }

 private:
  bool dead() const { return disk_->crashed_ || disk_->life_ != life_; }

  SimulatedDisk* disk_;
  NodePtr node_;
  const std::string path_;
  const uint64_t life_;
};

namespace {

std::vector<std::string> Split(const std::string& path) {
  std::vector<std::string> parts;
  for (size_t start = 0; start < path.size();) {
    size_t end = path.find('/', start);
    if (end == std::string::npos) end = path.size();
    if (end > start) parts.push_back(path.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

Error Missing(const std::string& path) { return MakeError(ErrorCode::kNotFound, "{} does not exist", path); }

}  // namespace

SimulatedDisk::NodePtr SimulatedDisk::MakeDirectory() {
  auto node = std::make_shared<Node>();
  node->is_directory = true;
  return node;
}

uint64_t SimulatedDisk::BytesIn(const Node& node) {
  uint64_t bytes = node.content.size();
  for (const auto& [name, child] : node.names) bytes += BytesIn(*child);
  return bytes;
}

SimulatedDisk::NodePtr SimulatedDisk::Find(const std::string& path) const {
  NodePtr node = root_;
  for (const std::string& part : Split(path)) {
    if (!node->is_directory) return nullptr;
    const auto found = node->names.find(part);
    if (found == node->names.end()) return nullptr;
    node = found->second;
  }
  return node;
}

Result<std::pair<SimulatedDisk::NodePtr, std::string>> SimulatedDisk::FindParent(const std::string& path) const {
  const std::vector<std::string> parts = Split(path);
  STROM_ASSERT(!parts.empty(), "the root has no parent");
  NodePtr node = root_;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    const auto found = node->names.find(parts[i]);
    if (found == node->names.end() || !found->second->is_directory) return Missing(path);
    node = found->second;
  }
  return std::pair(node, parts.back());
}

Status SimulatedDisk::Dead(const std::string& path) const {
  return MakeError(ErrorCode::kIoError, "{}: the simulated machine is down", path);
}

bool SimulatedDisk::CountMutation() {
  ++counters_.mutations;
  if (mutations_left_ == UINT64_MAX) return false;
  if (mutations_left_-- > 0) return false;
  crashed_ = true;
  mutations_left_ = UINT64_MAX;
  return true;
}

void SimulatedDisk::Change(Node& directory, NameChange change) {
  for (const NameChange::One& one : change.changes) {
    if (one.node == nullptr) {
      directory.names.erase(one.name);
    } else {
      directory.names[one.name] = one.node;
    }
  }
  directory.changes.push_back(std::move(change));
}

Result<std::shared_ptr<rt::File>> SimulatedDisk::Open(const std::string& path, OpenOptions options) {
  const std::lock_guard lock(mutex_);
  if (crashed_) return Dead(path);
  STROM_ASSIGN(auto parent, FindParent(path));
  const auto found = parent.first->names.find(parent.second);
  NodePtr node;
  if (found != parent.first->names.end()) {
    if (options.create && options.exclusive) return MakeError(ErrorCode::kAlreadyExists, "{} is there already", path);
    node = found->second;
    if (node->is_directory) return MakeError(ErrorCode::kIoError, "{} is a directory", path);
  } else {
    if (!options.create) return Missing(path);
    if (CountMutation()) return Dead(path);
    if (used_ >= capacity_) return MakeError(ErrorCode::kNoSpace, "{}: the disk is full", path);
    node = std::make_shared<Node>();
    Change(*parent.first, {{{parent.second, node}}});
  }
  ++counters_.opens;
  return std::shared_ptr<rt::File>(std::make_shared<OpenFile>(this, node, path, life_));
}

Status SimulatedDisk::CreateDirectories(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (crashed_) return Dead(path);
  NodePtr node = root_;
  for (const std::string& part : Split(path)) {
    const auto found = node->names.find(part);
    if (found != node->names.end()) {
      if (!found->second->is_directory) return MakeError(ErrorCode::kIoError, "{} is a file", part);
      node = found->second;
      continue;
    }
    if (CountMutation()) return Dead(path);
    const NodePtr made = MakeDirectory();
    Change(*node, {{{part, made}}});
    node = made;
  }
  return Status::OK();
}

Result<std::vector<rt::DirectoryEntry>> SimulatedDisk::List(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (crashed_) return Dead(path).error();
  const NodePtr node = Find(path);
  if (node == nullptr || !node->is_directory) return Missing(path);
  std::vector<rt::DirectoryEntry> entries;
  for (const auto& [name, child] : node->names) entries.push_back({name, child->is_directory});
  return entries;
}

Result<bool> SimulatedDisk::Exists(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (crashed_) return Dead(path).error();
  return Find(path) != nullptr;
}

Status SimulatedDisk::Rename(const std::string& from, const std::string& to) {
  const std::lock_guard lock(mutex_);
  if (crashed_) return Dead(from);
  STROM_ASSIGN(auto source, FindParent(from));
  STROM_ASSIGN(auto target, FindParent(to));
  const auto found = source.first->names.find(source.second);
  if (found == source.first->names.end()) return Missing(from);
  if (CountMutation()) return Dead(from);
  const NodePtr node = found->second;
  if (source.first == target.first) {
    Change(*source.first, {{{source.second, nullptr}, {target.second, node}}});
  } else {
    Change(*source.first, {{{source.second, nullptr}}});
    Change(*target.first, {{{target.second, node}}});
  }
  return Status::OK();
}

Status SimulatedDisk::Remove(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (crashed_) return Dead(path);
  STROM_ASSIGN(auto parent, FindParent(path));
  const auto found = parent.first->names.find(parent.second);
  if (found == parent.first->names.end()) return Missing(path);
  if (found->second->is_directory && !found->second->names.empty()) {
    return MakeError(ErrorCode::kIoError, "{} is not empty", path);
  }
  if (CountMutation()) return Dead(path);
  used_ -= std::min<uint64_t>(used_, found->second->content.size());
  Change(*parent.first, {{{parent.second, nullptr}}});
  return Status::OK();
}

Status SimulatedDisk::RemoveTree(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (crashed_) return Dead(path);
  Result<std::pair<NodePtr, std::string>> parent = FindParent(path);
  if (!parent.ok() || !parent->first->names.contains(parent->second)) return Status::OK();
  if (CountMutation()) return Dead(path);
  Change(*parent->first, {{{parent->second, nullptr}}});
  return Status::OK();
}

Status SimulatedDisk::SyncDirectory(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (crashed_) return Dead(path);
  const NodePtr node = Find(path);
  if (node == nullptr || !node->is_directory) return Missing(path);
  if (CountMutation()) return Dead(path);
  if (fail_syncs_) return MakeError(ErrorCode::kIoError, "{}: the simulated sync fails", path);
  ++counters_.directory_syncs;
  node->durable_names = node->names;
  node->changes.clear();
  return Status::OK();
}

Result<rt::DiskUsage> SimulatedDisk::Usage(const std::string&) {
  const std::lock_guard lock(mutex_);
  const uint64_t total = std::min<uint64_t>(capacity_, uint64_t{1} << 40);
  return rt::DiskUsage{total, total - std::min(total, used_)};
}

Result<size_t> SimulatedDisk::ReadFile(const Node& file, uint64_t position, std::span<uint8_t> into) {
  ++counters_.reads;
  if (position >= file.content.size()) return size_t{0};
  const size_t size = static_cast<size_t>(std::min<uint64_t>(into.size(), file.content.size() - position));
  std::copy_n(file.content.begin() + static_cast<ptrdiff_t>(position), size, into.begin());
  counters_.bytes_read += size;
  return size;
}

/// Remembers what is durable of the pages in [begin, end) before they change.
void SimulatedDisk::MarkDirty(Node& file, uint64_t begin, uint64_t end) {
  for (uint64_t page = begin / kPageSize; page * kPageSize < end; ++page) {
    if (file.dirty.contains(page)) continue;
    std::vector<uint8_t> old(kPageSize);
    const uint64_t start = page * kPageSize;
    if (start < file.content.size()) {
      const size_t size = static_cast<size_t>(std::min<uint64_t>(kPageSize, file.content.size() - start));
      std::copy_n(file.content.begin() + static_cast<ptrdiff_t>(start), size, old.begin());
    }
    file.dirty.emplace(page, std::move(old));
  }
}

Status SimulatedDisk::WriteFile(Node& file, const std::string& path, uint64_t position, std::span<const ByteView> pieces) {
  std::vector<uint8_t> bytes;
  for (const ByteView piece : pieces) bytes.insert(bytes.end(), piece.begin(), piece.end());
  ++counters_.writes;
  const size_t dot = path.rfind('.');
  if (dot != std::string::npos) ++writes_by_suffix_[path.substr(dot)];
  const bool dies = CountMutation();
  if (dies) bytes.resize(random_.Below(bytes.size() + 1));
  const uint64_t size_after = std::max<uint64_t>(file.content.size(), position + bytes.size());
  const uint64_t growth = size_after - file.content.size();
  const bool full = growth > capacity_ - std::min(capacity_, used_);
  if (full) {
    const uint64_t fits = file.content.size() + (capacity_ - std::min(capacity_, used_));
    bytes.resize(fits > position ? static_cast<size_t>(std::min<uint64_t>(bytes.size(), fits - position)) : 0);
  }
  if (!bytes.empty()) {
    MarkDirty(file, position, position + bytes.size());
    const size_t before = file.content.size();
    file.content.resize(std::max<size_t>(before, static_cast<size_t>(position + bytes.size())));
    used_ += file.content.size() - before;
    std::copy(bytes.begin(), bytes.end(), file.content.begin() + static_cast<ptrdiff_t>(position));
  }
  counters_.bytes_written += bytes.size();
  if (dies) return Dead(path);
  if (full) return MakeError(ErrorCode::kNoSpace, "{} at {}: the disk is full", path, position);
  return Status::OK();
}

Status SimulatedDisk::TruncateFile(Node& file, const std::string& path, uint64_t size) {
  if (CountMutation()) return Dead(path);
  if (size < file.content.size()) {
    MarkDirty(file, size, file.content.size());
    used_ -= std::min<uint64_t>(used_, file.content.size() - size);
  } else {
    used_ += size - file.content.size();
  }
  file.content.resize(static_cast<size_t>(size));
  return Status::OK();
}

Status SimulatedDisk::SyncFile(Node& file, const std::string& path) {
  if (CountMutation()) return Dead(path);
  if (fail_syncs_) return MakeError(ErrorCode::kIoError, "{}: the simulated sync fails", path);
  ++counters_.file_syncs;
  file.dirty.clear();
  file.durable_size = file.content.size();
  return Status::OK();
}

void SimulatedDisk::CrashAfter(uint64_t mutations) {
  const std::lock_guard lock(mutex_);
  mutations_left_ = mutations;
}

bool SimulatedDisk::crashed() const {
  const std::lock_guard lock(mutex_);
  return crashed_;
}

void SimulatedDisk::RestartAfterProcessCrash() {
  const std::lock_guard lock(mutex_);
  ++life_;
  crashed_ = false;
  mutations_left_ = UINT64_MAX;
}

void SimulatedDisk::RestartAfterPowerLoss() {
  const std::lock_guard lock(mutex_);
  ++life_;
  crashed_ = false;
  mutations_left_ = UINT64_MAX;
  LosePower(*root_);
  used_ = BytesIn(*root_);
}

void SimulatedDisk::LosePower(Node& node) {
  if (!node.is_directory) {
    LosePages(node);
    return;
  }
  // A journal keeps the order of the changes of one directory.
  const uint64_t kept = random_.Below(node.changes.size() + 1);
  for (uint64_t i = 0; i < kept; ++i) {
    for (const NameChange::One& one : node.changes[i].changes) {
      if (one.node == nullptr) {
        node.durable_names.erase(one.name);
      } else {
        node.durable_names[one.name] = one.node;
      }
    }
  }
  node.changes.clear();
  node.names = node.durable_names;
  for (const auto& [name, child] : node.names) LosePower(*child);
}

void SimulatedDisk::LosePages(Node& file) {
  uint64_t size = file.durable_size;
  const uint64_t current = file.content.size();
  if (size != current) {
    const uint64_t kind = random_.Below(3);
    if (kind == 1) size = current;
    if (kind == 2) size = std::min(size, current) + random_.Below(std::max(size, current) - std::min(size, current) + 1);
  }
  std::vector<uint8_t> content = file.content;
  content.resize(static_cast<size_t>(size));
  for (const auto& [page, old] : file.dirty) {
    const uint64_t whole = random_.Below(3);  // the new page, the old one, or a mixture
    for (uint64_t sector = 0; sector < kPageSize / kSectorSize; ++sector) {
      const bool lost = whole == 0 ? false : whole == 1 ? true : random_.OneIn(2);
      const uint64_t start = page * kPageSize + sector * kSectorSize;
      for (uint64_t at = start; at < std::min(start + kSectorSize, size); ++at) {
        if (lost || at >= current) content[static_cast<size_t>(at)] = old[static_cast<size_t>(at - page * kPageSize)];
      }
    }
  }
  file.content = std::move(content);
  file.durable_size = size;
  file.dirty.clear();
}

void SimulatedDisk::SetCapacity(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  capacity_ = bytes;
}

void SimulatedDisk::FailSyncs(bool fail) {
  const std::lock_guard lock(mutex_);
  fail_syncs_ = fail;
}

int64_t SimulatedDisk::open_handles() const {
  const std::lock_guard lock(mutex_);
  return open_handles_;
}

SimulatedDisk::Counters SimulatedDisk::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

uint64_t SimulatedDisk::writes_to(const std::string& suffix) const {
  const std::lock_guard lock(mutex_);
  const auto found = writes_by_suffix_.find(suffix);
  return found == writes_by_suffix_.end() ? 0 : found->second;
}

std::vector<uint8_t> SimulatedDisk::ContentOf(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const NodePtr node = Find(path);
  STROM_ASSERT(node != nullptr && !node->is_directory, "{} is no file", path);
  return node->content;
}

void SimulatedDisk::SetContent(const std::string& path, std::vector<uint8_t> content) {
  STROM_ASSERT(CreateDirectories(path.substr(0, path.rfind('/'))).ok(), "no directory for {}", path);
  const std::lock_guard lock(mutex_);
  Result<std::pair<NodePtr, std::string>> parent = FindParent(path);
  NodePtr& node = parent->first->names[parent->second];
  if (node == nullptr) node = std::make_shared<Node>();
  used_ += content.size();
  used_ -= std::min<uint64_t>(used_, node->content.size());
  node->content = std::move(content);
  node->durable_size = node->content.size();
  node->dirty.clear();
  parent->first->durable_names[parent->second] = node;
}

std::vector<std::string> SimulatedDisk::FilesBelow(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> files;
  const std::function<void(const Node&, const std::string&)> walk = [&](const Node& node, const std::string& at) {
    for (const auto& [name, child] : node.names) {
      if (child->is_directory) {
        walk(*child, at + "/" + name);
      } else {
        files.push_back(at + "/" + name);
      }
    }
  };
  const NodePtr start = Find(path);
  if (start != nullptr) walk(*start, path);
  return files;
}

SimulatedDisk::NodePtr SimulatedDisk::CopyOf(const Node& node) {
  auto copy = std::make_shared<Node>();
  copy->is_directory = node.is_directory;
  copy->content = node.content;
  copy->durable_size = node.content.size();
  for (const auto& [name, child] : node.names) copy->names.emplace(name, CopyOf(*child));
  copy->durable_names = copy->names;
  return copy;
}

std::unique_ptr<SimulatedDisk> SimulatedDisk::Clone(uint64_t seed) const {
  auto copy = std::make_unique<SimulatedDisk>(seed);
  const std::lock_guard lock(mutex_);
  copy->root_ = CopyOf(*root_);
  copy->used_ = used_;
  return copy;
}

}  // namespace strom::rt::testing
