#include "sim/run.h"

#include <algorithm>
#include <memory>

#include "log/offset_checkpoint.h"
#include "log/tablet_directories.h"
#include "model/layout.h"
#include "sim/bounds_checker.h"
#include "sim/reader.h"
#include "sim/writer.h"

namespace strom::sim {

namespace {

constexpr uint64_t kNoLimit = UINT64_MAX;

/// One run: a server, its clients, what happens to them, and the checkers.
class Run {
 public:
  Run(const Settings& settings, bool verbose) : world_(settings, verbose), reads_(world_), bounds_(world_), readers_(world_, reads_) {}
  RunResult Execute();

 private:
  bool Begin();
  bool MakeTable();
  void MakeWriters();
  void Step();
  void Progress();
  void Settle();
  void Finish();

  // What happens to the server.
  void AddColumn();
  void FillDisk();
  void FreeDisk();
  void JumpClock();
  void PlanDeath();
  void StopAndStart();
  void Recover();
  void StartUp(Death worst, bool clean);
  void CheckAll();
  void Poison(bool poison);
  void DamageCommitted(bool power_loss);

  Random& random() { return world_.random; }
  Machine& machine() { return world_.machine; }
  bool stopped() { return world_.history.failed(); }

  World world_;
  ReadChecker reads_;
  BoundsChecker bounds_;
  Readers readers_;
  std::vector<std::unique_ptr<Writer>> writers_;
  int64_t wall_ahead_ms_ = 0;  // of the wall clock, by jumps
  Death planned_ = Death::kProcessCrash;
  RunResult result_;

  struct Poisoned {
    std::string path;
    size_t position = 0;
  };
  std::vector<Poisoned> poisoned_;
};

bool Run::MakeTable() {
  coordinator::CreateTable create{kTablePath, MakeTableDescriptor(world_.settings), false};
  const Status made = machine().executor().Run(machine().coordinator()->Execute(std::move(create)));
  if (!made.ok()) {
    world_.history.Fail("the table is made", "{}", made.ToString());
    return false;
  }
  const std::shared_ptr<const meta::TableEntry> table = machine().table();
  world_.table_id = table->info->table_id.value();
  world_.schemas = {table->info->descriptor.schema};
  return true;
}

void Run::MakeWriters() {
  for (int number = 0; number < world_.settings.writers; ++number) {
    Writer::Traits traits;
    traits.number = number;
    traits.bucket = static_cast<int32_t>(random().Below(static_cast<uint64_t>(world_.settings.buckets)));
    traits.idempotent = number == 0 || !random().OneIn(3);
    traits.acks = static_cast<int32_t>(random().OneIn(3) ? random().Between(-1, 1) : -1);
    writers_.push_back(std::make_unique<Writer>(world_, traits));
  }
}

bool Run::Begin() {
  world_.history.Note("{}", world_.settings.ToString());
  const Status started = machine().Start(/*power_loss_possible=*/true);
  if (!started.ok()) {
    world_.history.Fail("the server starts", "{}", started.ToString());
    return false;
  }
  if (!MakeTable()) return false;
  MakeWriters();
  bounds_.AfterRestart(Death::kProcessCrash, false);
  return !stopped();
}

void Run::AddColumn() {
  if (world_.schemas.size() > 1) return;
  coordinator::AlterTable alter{kTablePath, {}, {}, false};
  alter.add_columns.push_back({"b", model::DataType::Of(model::TypeRoot::kBigInt), {}, 0, {}});
  const Status altered = machine().executor().Run(machine().coordinator()->Execute(std::move(alter)));
  if (!altered.ok() || machine().table()->schemas.size() != 2) {
    if (!machine().disk().crashed()) world_.history.Fail("a column is added", "{}", altered.ToString());
    return;
  }
  world_.schemas.push_back(machine().table()->info->descriptor.schema);
  world_.history.Note("a column is added");
}

void Run::FillDisk() {
  if (world_.disk_is_full) return FreeDisk();
  const Result<rt::DiskUsage> usage = machine().disk().Usage("/");
  machine().disk().SetCapacity(usage->total_bytes - usage->available_bytes + random().Below(600));
  world_.disk_is_full = true;
  world_.history.Note("the disk is full");
}

void Run::FreeDisk() {
  if (!world_.disk_is_full) return;
  machine().disk().SetCapacity(kNoLimit);
  world_.history.Note("the disk has room");
  // The server looks every second; what is on its way is refused until then.
  machine().executor().Advance(std::chrono::milliseconds(2500));
  Settle();
  world_.disk_is_full = false;
}

void Run::JumpClock() {
  constexpr int64_t kDay = 24LL * 3600 * 1000;
  bounds_.BeforeJump();
  const int64_t ahead = random().OneIn(3) ? random().Between(-60'000, 60'000) : random().Between(-kDay, kDay);
  const TimestampMs now = machine().executor().WallClockNow();
  machine().executor().SetWallClock(TimestampMs(now.value() - wall_ahead_ms_ + ahead));
  wall_ahead_ms_ = ahead;
  world_.history.Note("the wall clock jumps to {}", machine().executor().WallClockNow());
}

void Run::PlanDeath() {
  planned_ = world_.settings.power_losses && random().OneIn(2) ? Death::kPowerLoss : Death::kProcessCrash;
  const uint64_t mutations = random().OneIn(3) ? 0 : random().Below(60);
  world_.history.Note("a {} comes after {} changes of the disk", planned_ == Death::kPowerLoss ? "power loss" : "process crash", mutations);
  machine().disk().CrashAfter(mutations);
}

/// After a clean stop nobody may look at the batches of a log: a body with a wrong bit, put right again afterwards, is not noticed (L7).
void Run::Poison(bool poison) {
  if (poison) {
    for (const std::string& path : machine().disk().FilesBelow(machine().data_dir())) {
      if (!path.ends_with(model::kSegmentSuffix)) continue;
      const std::vector<uint8_t> content = machine().disk().ContentOf(path);
      if (content.size() < 200) continue;
      const Result<format::LogBatchHeader> header = format::DecodeLogBatchHeader(content);
      if (!header.ok() || header->record_count == 0 || header->total_size > content.size()) continue;
      poisoned_.push_back({path, header->total_size - size_t{1}});
    }
  }
  for (const Poisoned& each : poisoned_) {
    std::vector<uint8_t> content = machine().disk().ContentOf(each.path);
    content[each.position] ^= 0x10;
    machine().disk().SetContent(each.path, std::move(content));
  }
  if (!poison) poisoned_.clear();
}

/// The disk changes a bit below a recovery point while the server is down: its bucket must be refused and left as it is, the others must serve
/// (design.md 3, "What a bad batch means"). Then the bit is put right, as from a backup.
void Run::DamageCommitted(bool power_loss) {
  SimulatedDisk& disk = machine().disk();
  // With a clean mark nothing is read: the server died at the very end of a stop.
  const Result<bool> marked = disk.Exists(machine().data_dir() + "/" + log::kCleanShutdownMark);
  if (!marked.ok() || *marked) return;
  auto points = log::ReadOffsetCheckpoint(disk, machine().data_dir(), log::kRecoveryPointCheckpoint);
  if (!points.ok() || points->empty()) return;
  const auto bucket = static_cast<int32_t>(random().Below(static_cast<uint64_t>(world_.settings.buckets)));
  const model::TableBucket id{TableId(world_.table_id), std::nullopt, BucketId(bucket)};
  const auto point = points->find(id);
  if (point == points->end()) return;
  const std::string directory = model::LogTabletDirectory(machine().data_dir(), {kTablePath, std::nullopt}, id);
  // The segment that the recovery point lies in is read from its start on.
  std::string path;
  for (const std::string& each : disk.FilesBelow(directory)) {
    const auto base = model::ParseOffsetFileName(each.substr(each.rfind('/') + 1), model::kSegmentSuffix);
    if (base && *base <= point->second) path = each;
  }
  if (path.empty()) return;
  const std::vector<uint8_t> sound = disk.ContentOf(path);
  const Result<format::LogBatchHeader> header = format::DecodeLogBatchHeader(sound);
  if (!header.ok() || header->total_size > sound.size() || header->next_offset() > point->second) return;
  std::vector<uint8_t> damaged = sound;
  damaged[header->header_size() - 1 - random().Below(8)] ^= static_cast<uint8_t>(1U << random().Below(8));
  disk.SetContent(path, damaged);
  const Status started = machine().Start(power_loss || random().OneIn(2));
  const std::shared_ptr<replica::Replica> replica = machine().FindReplica(bucket);
  world_.history.Note("with {} damaged at offset {} the start is {}, bucket {} is {}", path, header->base_offset, started.ToString(), bucket,
                      replica == nullptr ? "missing" : replica->refused() ? "refused" : "served");
  if (!started.ok() || replica == nullptr || !replica->refused()) {
    world_.history.Fail("committed data is never cut", "bucket {}, recovery point {}: {} damaged at offset {}, and the bucket comes up ({})", bucket,
                        point->second, path, header->base_offset, started.ToString());
  }
  if (disk.ContentOf(path) != damaged) world_.history.Fail("committed data is never cut", "{} was changed", path);
  for (int32_t other = 0; other < world_.settings.buckets; ++other) {
    const std::shared_ptr<replica::Replica> beside = machine().FindReplica(other);
    if (other != bucket && (beside == nullptr || beside->refused())) {
      world_.history.Fail("other buckets serve", "bucket {} is refused for the damage of bucket {}", other, bucket);
    }
  }
  machine().Die(Death::kProcessCrash);
  if (!stopped()) disk.SetContent(path, sound);
}

void Run::StopAndStart() {
  FreeDisk();
  if (stopped() || machine().disk().crashed()) return;
  world_.history.Note("a clean stop");
  machine().EndRequests();
  Settle();
  if (stopped() || machine().disk().crashed()) return;
  bounds_.Observe();
  if (!machine().StopCleanly()) {
    world_.history.Note("the machine died while it stopped");
    return StartUp(planned_, false);
  }
  ++result_.clean_stops;
  machine().disk().CrashAfter(kNoLimit);
  // The machine may be switched off now: all is on the disk.
  const bool off = random().OneIn(2);
  if (off) machine().disk().RestartAfterPowerLoss();
  StartUp(off ? Death::kPowerLoss : Death::kProcessCrash, true);
}

void Run::Recover() {
  world_.history.Note("the machine died");
  machine().EndRequests();
  bounds_.BeforeRestart();
  machine().disk().SetCapacity(kNoLimit);
  world_.disk_is_full = false;
  StartUp(planned_, false);
}

/// Starts the server until it is up; it may die on the way, once more.
void Run::StartUp(Death worst, bool clean) {
  // The boot id of the last start that came through tells whether the power may have failed since.
  bool power_loss = worst == Death::kPowerLoss;
  if (!clean) {
    machine().Die(worst);
    ++(power_loss ? result_.power_losses : result_.crashes);
  }
  Settle();
  if (clean) Poison(true);
  if (!clean && !stopped() && random().OneIn(4)) DamageCommitted(power_loss);
  for (int again = random().OneIn(3) && !clean ? 2 : 0; !stopped(); --again) {
    if (again > 0) machine().disk().CrashAfter(random().Below(30));
    const Status started = machine().Start(power_loss);
    machine().disk().CrashAfter(kNoLimit);
    world_.history.Note("start {} after a {}: {}", machine().lives(), power_loss ? "power loss" : clean ? "clean stop" : "process crash",
                        started.ToString());
    if (started.ok()) break;
    if (!machine().disk().crashed()) {
      world_.history.Fail("the server starts", "{}", started.ToString());
      return;
    }
    const bool now_power = world_.settings.power_losses && random().OneIn(2);
    power_loss = power_loss || now_power;
    machine().Die(now_power ? Death::kPowerLoss : Death::kProcessCrash);
    ++(now_power ? result_.power_losses : result_.crashes);
  }
  Poison(false);
  if (stopped()) return;
  if (power_loss && !clean) {
    for (const std::unique_ptr<Writer>& writer : writers_) writer->DoubtServerAfterPowerLoss();
  }
  bounds_.AfterRestart(power_loss ? Death::kPowerLoss : Death::kProcessCrash, clean);
  if (random().OneIn(2)) CheckAll();
}

void Run::CheckAll() {
  // With group commit what is left over from before is readable once it is synced.
  machine().executor().Advance(std::chrono::milliseconds(500));
  Settle();
  for (int32_t bucket = 0; bucket < world_.settings.buckets && !stopped() && !machine().disk().crashed(); ++bucket) reads_.Audit(bucket);
}

void Run::Step() {
  const Settings& settings = world_.settings;
  const uint64_t kind = random().Below(1000);
  if (kind < (settings.many_appends ? 700U : 400U)) {
    writers_[random().Below(writers_.size())]->Step();
  } else if (kind < 850) {
    readers_.SendFetch();
  } else if (kind < 890) {
    readers_.CheckTimes();
  } else if (kind < 910) {
    CheckAll();
  } else if (kind < 915) {
    AddColumn();
  } else if (kind < 935 && settings.full_disks) {
    FillDisk();
  } else if (kind < 955 && settings.clock_jumps) {
    JumpClock();
  } else if (kind < 975 && settings.crashes) {
    PlanDeath();
  } else if (kind < 985) {
    StopAndStart();
  } else {
    machine().executor().Advance(std::chrono::seconds(random().Between(1, random().OneIn(4) ? 90 : 12)));
  }
}

void Run::Progress() {
  const uint64_t kind = random().Below(10);
  if (kind < 4) {
    for (int64_t i = random().Between(0, 25); i > 0; --i) (void)machine().executor().RunOne();
    return;
  }
  if (kind < 7) {
    machine().executor().RunUntilIdle();
  } else {
    machine().executor().Advance(std::chrono::microseconds(random().Between(10, random().OneIn(3) ? 300'000 : 5'000)));
  }
  if (!machine().disk().crashed()) readers_.CheckWaits();
}

void Run::Settle() {
  machine().NoteTime();
  for (const std::unique_ptr<Writer>& writer : writers_) writer->Settle();
  readers_.Settle();
}

void Run::Finish() {
  if (stopped()) return;
  machine().disk().CrashAfter(kNoLimit);
  FreeDisk();
  for (int round = 0; round < 200 && !stopped(); ++round) {
    if (std::all_of(writers_.begin(), writers_.end(), [](const auto& writer) { return writer->idle(); })) break;
    for (const std::unique_ptr<Writer>& writer : writers_) writer->Retry();
    machine().executor().Advance(std::chrono::milliseconds(300));
    readers_.CheckWaits();
    Settle();
  }
  for (const std::unique_ptr<Writer>& writer : writers_) {
    if (!stopped() && !writer->idle()) world_.history.Fail("every append is answered", "{} still waits for it", writer->ToString());
  }
  if (!stopped()) CheckAll();
  if (!stopped()) StopAndStart();
  if (!stopped()) CheckAll();
}

RunResult Run::Execute() {
  result_.settings = world_.settings.ToString();
  if (Begin()) {
    for (int step = 0; step < world_.settings.steps && !stopped(); ++step) {
      machine().NoteTime();
      Step();
      if (!machine().disk().crashed() && !stopped()) Progress();
      Settle();
      if (stopped()) break;
      if (machine().disk().crashed()) {
        Recover();
      } else {
        bounds_.Observe();
      }
    }
    if (machine().disk().crashed() && !stopped()) Recover();
    Finish();
  }
  machine().ShutDown();
  result_.passed = !world_.history.failed();
  result_.violation = world_.history.violation();
  result_.trace.assign(world_.history.tail().begin(), world_.history.tail().end());
  result_.digest = world_.history.digest();
  result_.events = world_.history.count();
  return result_;
}

}  // namespace

RunResult RunSeed(uint64_t seed, bool verbose) {
  const Settings settings = Settings::Draw(seed);
  return Run(settings, verbose).Execute();
}

}  // namespace strom::sim
