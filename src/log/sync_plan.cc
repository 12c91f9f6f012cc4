#include "log/sync_plan.h"

namespace strom::log {

Status SyncPlan::Run() const {
  STROM_TRY(prepared_);
  for (const std::shared_ptr<rt::File>& file : files_) STROM_TRY(file->Sync());
  for (const std::string& path : paths_) {
    Result<std::shared_ptr<rt::File>> file = file_system_->Open(path, {.write = true});
    if (file.code() == ErrorCode::kNotFound) continue;  // deleted since
    STROM_ASSIGN(const std::shared_ptr<rt::File> opened, std::move(file));
    STROM_TRY(opened->Sync());
  }
  for (const std::string& directory : directories_) STROM_TRY(file_system_->SyncDirectory(directory));
  return Status::OK();
}

}  // namespace strom::log
