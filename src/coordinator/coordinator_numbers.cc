#include "coordinator/coordinator_impl.h"
#include "meta/paths.h"
#include "meta/records.h"
#include "model/dynamic_config.h"

namespace strom::coordinator {
namespace {

constexpr int kConfigTriesMax = 3;

/// The permit of a lane, for the length of a coroutine.
class Permit {
 public:
  explicit Permit(rt::Semaphore* lane) : lane_(lane) {}
  ~Permit() { lane_->Release(); }
  Permit(const Permit&) = delete;
  Permit& operator=(const Permit&) = delete;

 private:
  rt::Semaphore* lane_;
};

}  // namespace

rt::Task<Result<WriterId>> CoordinatorImpl::NewWriterId() {
  rt::Gate::Holder hold = gate_.TryEnter();
  if (!hold) co_return MakeError(ErrorCode::kCancelled, "the coordinator is stopping");
  while (next_writer_id_ == end_writer_id_) {
    Status reserved = co_await ReserveWriterIds();
    if (!reserved.ok()) co_return reserved;
  }
  co_return WriterId(next_writer_id_++);
}

rt::Task<Status> CoordinatorImpl::ReserveWriterIds() {
  co_await writer_ids_lane_.Acquire();
  Permit permit(&writer_ids_lane_);
  if (next_writer_id_ != end_writer_id_) co_return Status::OK();  // somebody else did
  auto [first, outcome] = state_.ReserveWriterIds(kWriterIdsAtOnce);
  Status durable = co_await lane_.Submit(std::move(outcome));
  if (!durable.ok()) co_return durable;
  next_writer_id_ = first;
  end_writer_id_ = first + kWriterIdsAtOnce;
  co_return Status::OK();
}

rt::Task<Status> CoordinatorImpl::AlterClusterConfigs(std::vector<model::PropertyChange> changes) {
  rt::Gate::Holder hold = gate_.TryEnter();
  if (!hold) co_return MakeError(ErrorCode::kCancelled, "the coordinator is stopping");
  co_await config_lane_.Acquire();
  Permit permit(&config_lane_);
  for (int attempt = 0; attempt < kConfigTriesMax; ++attempt) {
    Result<meta::ConfigMap> changed = model::ApplyConfigChanges(config_, options_.configuration, changes);
    if (!changed.ok()) co_return changed.error();
    if (*changed == config_) co_return Status::OK();
    Status stored = co_await StoreConfig(*changed);
    const bool lost = stored.code() == ErrorCode::kVersionConflict || stored.code() == ErrorCode::kAlreadyExists ||
                      stored.code() == ErrorCode::kNotFound;
    if (!stored.ok() && !lost) co_return stored;
    if (lost) {
      Status reloaded = co_await ReloadConfig();
      if (!reloaded.ok()) co_return reloaded;
    }
    Status told = co_await TellConfig();
    if (!lost || !told.ok()) co_return told;
  }
  co_return MakeError(ErrorCode::kNotCoordinatorLeader,
                      "the options of the cluster were changed by somebody else {} times while this request was tried",
                      kConfigTriesMax);
}

/// The stored configuration holds from now on.
rt::Task<Status> CoordinatorImpl::TellConfig() {
  state_.SetConfig(config_);
  if (options_.on_dynamic_config) options_.on_dynamic_config(config_);
  return lane_.PublishNow();
}

/// Writes with a version check, and only then takes it over (spec/server.md 17, W29).
rt::Task<Status> CoordinatorImpl::StoreConfig(meta::ConfigMap config) {
  meta::Transaction write;
  write.Check(meta::paths::kCoordinatorEpoch, epoch_version_);
  if (config_version_) {
    write.Set(meta::paths::kServerConfig, meta::ConfigToJson(config), *config_version_);
  } else {
    write.Create(meta::paths::kServerConfig, meta::ConfigToJson(config));
  }
  Status stored = co_await store_->Commit(std::move(write));
  if (!stored.ok()) co_return stored;
  config_version_ = config_version_ ? *config_version_ + 1 : 0;
  config_ = std::move(config);
  co_return Status::OK();
}

/// Somebody else wrote. When it was a new coordinator, the check of the epoch says so at the next try.
rt::Task<Status> CoordinatorImpl::ReloadConfig() {
  Result<std::optional<meta::Node>> read = co_await store_->Get(meta::paths::kServerConfig);
  STROM_CO_ASSIGN(const std::optional<meta::Node> node, std::move(read));
  config_version_.reset();
  config_.clear();
  if (node) config_version_ = node->version;
  if (node && !node->data.empty()) {
    STROM_CO_ASSIGN(config_, meta::ParseConfig(node->data));
  }
  co_return Status::OK();
}

}  // namespace strom::coordinator
