#include "kv/change_planner.h"

#include <utility>

#include "format/kv_value.h"
#include "format/row_codec.h"

namespace strom::kv {

using format::ChangeType;
using model::ChangelogImage;
using model::DeleteBehavior;

ChangePlanner::ChangePlanner(std::shared_ptr<const KvTable> table) : table_(std::move(table)), changelog_(table_) {}

Status ChangePlanner::Read(const format::KvBatchHeader& header, ByteView batch) {
  STROM_ASSIGN(const RowSchema* const schema, table_->SchemaOf(header.schema_id));
  header_ = header;
  STROM_TRY(batch_keys_.Read(header, batch));
  for (size_t i = 0; i < batch_keys_.records().size(); ++i) {
    const ByteView row = batch_keys_.records()[i].row;
    if (row.empty()) continue;
    const Status checked = format::CheckRow(table_->row_format(), schema->fields, row);
    if (!checked.ok())
      return MakeError(ErrorCode::kCorruptRecord, "record {} of the batch: {}", i, checked.error().message);
    STROM_TRY(CheckKeyColumns(i, {header.schema_id, row}));
  }
  return Status::OK();
}

Status ChangePlanner::CheckKeyColumns(size_t record, const RowView& row) const {
  // A replay encodes keys from the rows of the changelog: one without a key would keep the bucket from ever opening again.
  for (const size_t column : table_->key_columns()) {
    format::FieldView field;
    STROM_TRY(table_->ReadColumn(row, column, &field));
    if (field.is_null) {
      return MakeError(ErrorCode::kCorruptRecord, "record {} of the batch: the key column {} is null", record,
                       table_->latest().fields[column].name);
    }
  }
  return Status::OK();
}

bool ChangePlanner::ignores_old_values(const Merger& merger) const {
  if (merger.needs_old() || table_->auto_increment_column() >= 0 ||
      table_->config().changelog_image != ChangelogImage::kWal)
    return false;
  for (const BatchKeys::Record& record : batch_keys_.records()) {
    if (record.row.empty() && merger.delete_behavior() == DeleteBehavior::kAllow) return false;
  }
  return true;
}

Result<ChangePlan> ChangePlanner::Plan(Merger& merger, std::span<const std::optional<ByteView>> old_values,
                                       AutoIncrementIds* ids) {
  STROM_ASSERT(old_values.size() == keys().size() || ignores_old_values(merger), "{} old values for {} keys",
               old_values.size(), keys().size());
  states_.assign(keys().size(), {});
  for (size_t key = 0; key < old_values.size(); ++key) {
    states_[key].stored = old_values[key];
    states_[key].present = old_values[key].has_value();
  }
  entries_.clear();
  bytes_.Clear();
  changelog_.Begin(header_.writer_id, header_.batch_sequence);
  for (const BatchKeys::Record& record : batch_keys_.records()) {
    STROM_TRY(record.row.empty() ? PlanDelete(merger, record) : PlanUpsert(merger, record, ids));
  }
  const int32_t record_count = changelog_.record_count();
  STROM_ASSIGN(Buffer changelog, changelog_.Finish());
  ChangePlan plan = Finish(std::move(changelog));
  plan.record_count = record_count;
  return plan;
}

Status ChangePlanner::PlanUpsert(Merger& merger, const BatchKeys::Record& record, AutoIncrementIds* ids) {
  const RowView incoming{header_.schema_id, record.row};
  const bool full = table_->config().changelog_image == ChangelogImage::kFull;
  if (!full && !merger.needs_old() && table_->auto_increment_column() < 0) {
    // The changelog says +U even of a first insert: the old row is never read (spec/server.md 10.2).
    STROM_TRY(changelog_.Append(ChangeType::kUpdateAfter, incoming));
    Put(record.key, incoming, 0);
    return Status::OK();
  }
  STROM_ASSIGN(const std::optional<RowView> old, OldRow(record.key));
  merged_.Clear();
  STROM_ASSIGN(const MergeVerdict verdict, merger.Merge(old, incoming, &merged_));
  if (verdict == MergeVerdict::kUnchanged) return Status::OK();
  if (verdict == MergeVerdict::kRemoved) return old ? Remove(record.key, *old) : Status::OK();
  const RowView next =
      verdict == MergeVerdict::kMerged ? RowView{table_->latest().schema_id, merged_.view()} : incoming;
  return old ? Update(record.key, *old, next) : Insert(record.key, next, ids);
}

Status ChangePlanner::PlanDelete(Merger& merger, const BatchKeys::Record& record) {
  switch (merger.delete_behavior()) {
    case DeleteBehavior::kIgnore:
      return Status::OK();
    case DeleteBehavior::kDisable:
      return MakeError(ErrorCode::kDeletionDisabled,
                       "table {} does not take deletes ('table.delete.behavior' is DISABLE)",
                       table_->info().path.ToString());
    case DeleteBehavior::kAllow:
      break;
  }
  STROM_ASSIGN(const std::optional<RowView> old, OldRow(record.key));
  if (!old) return Status::OK();
  merged_.Clear();
  STROM_ASSIGN(const MergeVerdict verdict, merger.Delete(*old, &merged_));
  switch (verdict) {
    case MergeVerdict::kRemoved:
      return Remove(record.key, *old);
    case MergeVerdict::kMerged:
      return Update(record.key, *old, {table_->latest().schema_id, merged_.view()});
    case MergeVerdict::kUnchanged:
    case MergeVerdict::kIncoming:
      break;
  }
  return Status::OK();
}

Status ChangePlanner::Insert(uint32_t key, RowView row, AutoIncrementIds* ids) {
  MutableBuffer numbered;
  if (table_->auto_increment_column() >= 0) {
    if (ids == nullptr)
      return MakeError(ErrorCode::kUnknownServerError, "no ids for the auto-increment column are at hand");
    STROM_ASSIGN(const int64_t id, ids->Next());
    STROM_TRY(table_->ReadInLatest(row, &fields_));
    fields_[static_cast<size_t>(table_->auto_increment_column())] = format::FieldView::Number(id);
    STROM_TRY(table_->WriteLatest(fields_, &numbered));
    row = {table_->latest().schema_id, numbered.view()};
  }
  STROM_TRY(changelog_.Append(ChangeType::kInsert, row));
  Put(key, row, 1);
  return Status::OK();
}

Status ChangePlanner::Update(uint32_t key, const RowView& old, const RowView& row) {
  if (table_->config().changelog_image == ChangelogImage::kFull)
    STROM_TRY(changelog_.Append(ChangeType::kUpdateBefore, old));
  STROM_TRY(changelog_.Append(ChangeType::kUpdateAfter, row));
  Put(key, row, 0);
  return Status::OK();
}

Status ChangePlanner::Remove(uint32_t key, const RowView& old) {
  STROM_TRY(changelog_.Append(ChangeType::kDelete, old));
  states_[key] = {.stored = std::nullopt, .changed = true, .present = false};
  entries_.push_back(
      {.key = key, .present = false, .last_record = changelog_.record_count() - 1, .row_count_change = -1});
  return Status::OK();
}

Result<std::optional<RowView>> ChangePlanner::OldRow(uint32_t key) const {
  const KeyState& state = states_[key];
  if (!state.present) return std::optional<RowView>();
  const ByteView value = state.changed ? bytes_.view().subspan(state.position, state.size) : *state.stored;
  STROM_ASSIGN(const format::KvValueView decoded, format::DecodeKvValue(table_->value_layout(), value));
  return std::optional<RowView>({decoded.schema_id, decoded.row});
}

void ChangePlanner::Put(uint32_t key, const RowView& row, int32_t row_count_change) {
  const size_t position = bytes_.size();
  format::AppendKvValue(row.schema_id, row.row, &bytes_);
  const size_t size = bytes_.size() - position;
  states_[key] = {.stored = std::nullopt, .position = position, .size = size, .changed = true, .present = true};
  entries_.push_back({.key = key,
                      .position = position,
                      .size = size,
                      .present = true,
                      .last_record = changelog_.record_count() - 1,
                      .row_count_change = row_count_change});
}

ChangePlan ChangePlanner::Finish(Buffer changelog) {
  ChangePlan plan;
  plan.changelog = std::move(changelog);
  plan.bytes = bytes_.Freeze();
  plan.entries.reserve(entries_.size());
  for (const Entry& entry : entries_) {
    plan.entries.push_back(
        {.key = keys()[entry.key],
         .value = entry.present ? std::optional(plan.bytes.view().subspan(entry.position, entry.size)) : std::nullopt,
         .last_record = entry.last_record,
         .row_count_change = entry.row_count_change});
  }
  return plan;
}

}  // namespace strom::kv
