#include "log/file_cache.h"

#include "log/log_file_names.h"

namespace strom::log {

FileCache::~FileCache() {
  while (newest_ != nullptr) newest_->Close();
}

void FileCache::Slot::Close() {
  if (file_ == nullptr) return;
  cache_->Unlink(*this);
  last_ = file_;
  file_.reset();
  cache_ = nullptr;
}

void FileCache::PushNewest(Slot& slot) {
  slot.newer_ = nullptr;
  slot.older_ = newest_;
  (newest_ == nullptr ? oldest_ : newest_->newer_) = &slot;
  newest_ = &slot;
  ++open_count_;
}

void FileCache::Unlink(Slot& slot) {
  (slot.newer_ == nullptr ? newest_ : slot.newer_->older_) = slot.older_;
  (slot.older_ == nullptr ? oldest_ : slot.older_->newer_) = slot.newer_;
  slot.newer_ = slot.older_ = nullptr;
  --open_count_;
}

Result<rt::File*> FileCache::Open(Slot& slot, const std::string& directory, LogOffset base, std::string_view suffix, bool create) {
  if (slot.is_open()) {
    STROM_ASSERT(slot.cache_ == this, "a slot of another cache");
    if (newest_ != &slot) {
      Unlink(slot);
      PushNewest(slot);
    }
    return slot.file_.get();
  }
  std::shared_ptr<rt::File> file = slot.last_.lock();
  if (file == nullptr) {
    STROM_ASSIGN(file, files_->Open(LogFilePath(directory, base, suffix), {.write = true, .create = create}));
  }
  while (open_count_ >= open_files_max_ && oldest_ != nullptr) oldest_->Close();
  slot.file_ = std::move(file);
  slot.last_.reset();
  slot.cache_ = this;
  PushNewest(slot);
  return slot.file_.get();
}

}  // namespace strom::log
