#include "sim/machine.h"

#include <utility>

#include "rt/call.h"
#include "sim/table_data.h"

namespace strom::sim {

namespace {

constexpr ServerId kServer{0};

rt::ManualExecutorOptions ExecutorOptions(const Settings& settings) {
  rt::ManualExecutorOptions options;
  options.shards = Machine::kShards;
  options.seed = settings.shuffled ? settings.seed * 2 + 1 : 0;
  options.blocking_time = settings.blocking_time;
  return options;
}

}  // namespace

Machine::Machine(const Settings& settings, History& history)
    : settings_(settings), history_(history), executor_(ExecutorOptions(settings)), disk_(settings.seed) {
  auto connection = std::make_shared<rpc::ConnectionInfo>();
  connection->client_name = "fluss";
  connection_ = std::move(connection);
  // The directory was there before the server: it made the stamp in it and synced it.
  STROM_ASSERT(disk_.CreateDirectories(data_dir_).ok() && disk_.SyncDirectory("/").ok() && disk_.SyncDirectory("/data").ok(), "a new disk");
}

Machine::~Machine() { ShutDown(); }

void Machine::ShutDown() {
  if (tablet_ != nullptr) StopParts(false);
}

tablet::TabletOptions Machine::MakeTabletOptions(bool power_loss_possible) const {
  tablet::TabletOptions options;
  options.server_id = kServer;
  options.data_dir = data_dir_;
  options.power_loss_possible = power_loss_possible;
  options.log.segment_size_max = settings_.segment_size;
  options.log.index_interval = settings_.index_interval;
  options.log.flush_interval_messages = settings_.group_commit ? 1 : settings_.flush_interval_messages;
  options.open_files_max = settings_.open_files_max;
  options.recovery_checkpoint_interval = settings_.checkpoint_interval;
  options.high_watermark_checkpoint_interval = std::chrono::seconds(2);
  options.retention_check_interval = kRetentionInterval;
  options.writer_expiry_check_interval = std::chrono::seconds(30);
  options.disk_check_interval = std::chrono::seconds(1);
  return options;
}

Status Machine::Start(bool power_loss_possible) {
  ++lives_;
  gateway_ = std::make_unique<server::LocalGateway>();
  auto tablet = executor_.Run(tablet::TabletServer::Start(MakeTabletOptions(power_loss_possible), &disk_, gateway_.get()));
  if (!tablet.ok()) return tablet.status();
  tablet_ = std::move(tablet).value();
  gateway_->SetTablet(tablet_.get());
  executor_.Run(tablet_->SetDynamicOptions({}));

  coordinator::CoordinatorOptions options;
  options.endpoints = {{"FLUSS", "localhost", 9123}};
  options.remote_data_dir = "file:///data/remote";
  options.seed = settings_.seed + 1;
  auto coordinator = executor_.Run(coordinator::Coordinator::Start(std::move(options), &store_, gateway_.get()));
  if (!coordinator.ok()) return coordinator.status();
  coordinator_ = std::move(coordinator).value();
  gateway_->SetCoordinator(coordinator_.get(), nullptr);
  STROM_TRY(executor_.Run(coordinator_->AddTabletServer({kServer, {{"FLUSS", "localhost", 9124}}, std::nullopt})));
  executor_.Run(tablet_->SweepOrphans(coordinator_->catalog()));
  if (disk_.crashed()) return MakeError(ErrorCode::kIoError, "the machine died while the server started");
  for (uint32_t shard = 0; shard < kShards; ++shard) handlers_.push_back(std::make_unique<tablet::TabletHandler>(tablet_->shard(shard)));
  running_ = true;
  stopping_ = false;
  return Status::OK();
}

void Machine::EndRequests() {
  stopping_ = true;
  if (tablet_ == nullptr) return;
  executor_.Run(tablet_->EndWaits());
  executor_.RunUntil([this] { return open_requests_ == 0; });
}

void Machine::StopParts(bool clean) {
  EndRequests();
  running_ = false;
  if (coordinator_ != nullptr) executor_.Run(coordinator_->Stop());
  if (tablet_ != nullptr) executor_.Run(tablet_->Stop(clean));
  executor_.RunUntilIdle();
  handlers_.clear();
  coordinator_.reset();
  tablet_.reset();
  gateway_.reset();
  STROM_ASSERT(executor_.Run(store_.Close()).ok(), "the store in memory closes");
}

bool Machine::StopCleanly() {
  StopParts(true);
  return !disk_.crashed();
}

void Machine::Die(Death death) {
  if (!disk_.crashed()) {
    disk_.CrashAfter(0);
    (void)disk_.CreateDirectories("/never");
  }
  StopParts(false);
  if (death == Death::kProcessCrash) {
    disk_.RestartAfterProcessCrash();
  } else {
    disk_.RestartAfterPowerLoss();
  }
}

rt::Task<void> Machine::Serve(uint32_t shard, rpc::Request request, Done done) {
  Result<rt::Pieces> answer = co_await handlers_[shard]->Handle(std::move(request));
  Result<Buffer> bytes = answer.ok() ? rt::Flatten(*answer) : Result<Buffer>(answer.error());
  --open_requests_;
  NoteTime();
  if (disk_.crashed()) {
    done(MakeError(ErrorCode::kNetworkException, "the machine died before the answer was out"));
  } else {
    done(std::move(bytes));
  }
}

void Machine::Ask(uint32_t shard, rpc::ApiKey key, rt::Pieces body, Done done) {
  Result<Buffer> flat = rt::Flatten(body);
  STROM_ASSERT(flat.ok(), "{}", flat.ToString());
  rpc::Request request;
  request.api_key = key;
  request.body = std::move(flat).value();
  request.connection = connection_;
  ++open_requests_;
  executor_.SpawnOn(shard, Serve(shard, std::move(request), std::move(done)));
}

Result<Buffer> Machine::AskNow(uint32_t shard, rpc::ApiKey key, rt::Pieces body) {
  std::optional<Result<Buffer>> answer;
  Ask(shard, key, std::move(body), [&answer](Result<Buffer> got) { answer.emplace(std::move(got)); });
  executor_.RunUntil([&answer] { return answer.has_value(); });
  return std::move(*answer);
}

std::shared_ptr<const meta::TableEntry> Machine::table() const {
  if (coordinator_ == nullptr) return nullptr;
  const meta::TableEntry* entry = coordinator_->catalog()->FindTable(kTablePath);
  return entry == nullptr ? nullptr : coordinator_->catalog()->ShareTable(entry->info->table_id);
}

std::shared_ptr<replica::Replica> Machine::FindReplica(int32_t bucket) const {
  const std::shared_ptr<const meta::TableEntry> entry = table();
  if (tablet_ == nullptr || entry == nullptr) return nullptr;
  const model::TableBucket id{entry->info->table_id, std::nullopt, BucketId(bucket)};
  auto found = tablet_->shard(model::OwnerShard(id, kShards))->FindReplica(id);
  return found.ok() ? *found : nullptr;
}

}  // namespace strom::sim
