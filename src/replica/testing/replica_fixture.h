#pragma once

// What the tests of replica/ and tablet/ share: a table, its batches, a log on a simulated disk.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "format/log_batch_builder.h"
#include "replica/replica.h"
#include "rt/manual_executor.h"
#include "rt/testing/simulated_disk.h"

namespace strom::replica::testing {

inline constexpr ServerId kServer{0};
inline const model::TableBucket kBucket{TableId(7), std::nullopt, BucketId(2)};
inline const model::PhysicalTablePath kPath{{"db", "t"}, std::nullopt};

inline std::shared_ptr<const model::TableInfo> MakeTable(model::LogFormat format = model::LogFormat::kIndexed) {
  auto table = std::make_shared<model::TableInfo>();
  table->path = kPath.table_path;
  table->table_id = kBucket.table_id;
  table->schema_id = SchemaId(1);
  table->descriptor.schema.columns = {{.name = "a", .type = model::DataType::Of(model::TypeRoot::kInteger), .comment = {}, .aggregate = {}, .id = 0}};
  table->descriptor.bucket_count = 4;
  table->config.log_format = format;
  return table;
}

inline std::shared_ptr<const meta::TableEntry> MakeEntry(std::shared_ptr<const model::TableInfo> table) {
  auto entry = std::make_shared<meta::TableEntry>();
  entry->info = std::move(table);
  return entry;
}

/// A batch of `records` one-byte rows.
inline Buffer MakeBatch(int32_t records, WriterId writer = kNoWriterId, int32_t sequence = -1) {
  format::LogBatchSpec spec;
  spec.writer_id = writer;
  spec.batch_sequence = sequence;
  format::RowLogBatchBuilder builder(spec);
  const uint8_t row[] = {1};
  for (int32_t i = 0; i < records; ++i) builder.Append(format::ChangeType::kAppendOnly, row);
  return builder.Finish();
}

inline model::LeaderAndIsrNotice MakeNotice(std::shared_ptr<const model::TableInfo> table, int32_t leader_epoch,
                                            model::TableBucket bucket = kBucket, ServerId leader = kServer) {
  model::LeaderAndIsrNotice notice;
  notice.bucket = bucket;
  notice.path = kPath;
  notice.replicas = {kServer};
  notice.state.leader = leader;
  notice.state.leader_epoch = LeaderEpoch(leader_epoch);
  notice.state.bucket_epoch = BucketEpoch(leader_epoch);
  notice.state.isr = {kServer};
  notice.table = std::move(table);
  return notice;
}

/// One replica on a machine of its own.
class ReplicaTest : public ::testing::Test {
 protected:
  void Open(bool group_commit = false) {
    environment_.server_id = kServer;
    environment_.group_commit = group_commit;
    log::LogEnvironment environment;
    environment.files = &disk_;
    environment.file_cache = &cache_;
    log::LogOptions options;
    if (group_commit) options.flush_interval_messages = 1;
    auto log = log::Log::Open(environment, "/data/log", kBucket, options, {});
    ASSERT_TRUE(log.ok()) << log.ToString();
    replica_ = std::make_unique<Replica>(&environment_, kBucket, kPath, table_, std::move(log).value(), LogOffset(0));
    view_ = std::make_unique<FetchView>(MakeEntry(table_), FetchWish{});
  }
  void Lead(int32_t epoch = 1) { ASSERT_TRUE(replica_->ApplyNotice(MakeNotice(table_, epoch)).ok()); }

  rt::ManualExecutor executor_;
  rt::testing::SimulatedDisk disk_{1};
  log::FileCache cache_{&disk_, 16};
  ReplicaEnvironment environment_;
  std::shared_ptr<const model::TableInfo> table_ = MakeTable();
  std::unique_ptr<Replica> replica_;
  std::unique_ptr<FetchView> view_;
};

}  // namespace strom::replica::testing
