#include "replica/fetch_view.h"

#include "format/batch_rewrite.h"

namespace strom::replica {

namespace {

std::shared_ptr<const model::Schema> FindSchema(const std::shared_ptr<const meta::TableEntry>& table, SchemaId id) {
  const auto found = table->schemas.find(id);
  if (found == table->schemas.end()) return nullptr;
  return {found->second, &found->second->schema};
}

}  // namespace

FetchView::FetchView(std::shared_ptr<const meta::TableEntry> table, const FetchWish& wish)
    : table_(std::move(table)),
      rewrite_(wish.rewrite_statistics && table_->info->config.statistics_columns.has_value()),
      schemas_([table = table_](SchemaId id) { return FindSchema(table, id); }) {
  if (wish.projected_fields != nullptr) positions_ = *wish.projected_fields;
  if (wish.filter != nullptr && table_->info->config.log_format == model::LogFormat::kArrow) {
    filter_ = std::make_unique<format::BatchFilter>(*wish.filter, schemas_);
  }
}

Result<ViewedSlice> FetchView::Apply(const log::LogSlice& slice, uint64_t max_bytes, bool min_one_batch) {
  ViewedSlice viewed;
  if (positions_.empty() && !filter_) {
    viewed.records.Add(rt::FileRange{slice.file, slice.position, slice.size});
    viewed.next_offset = slice.next_offset;
    viewed.complete = true;
  } else {
    STROM_ASSIGN(format::ProjectedRead read, format::ProjectSlice({.file = slice.file,
                                                                   .position = slice.position,
                                                                   .size = slice.size,
                                                                   .first_offset = slice.first_batch_offset,
                                                                   .table_schema = table_->info->schema_id,
                                                                   .positions = positions_,
                                                                   .filter = filter_.get(),
                                                                   .max_bytes = max_bytes,
                                                                   .min_one_batch = min_one_batch},
                                                                  schemas_, &plans_));
    viewed.records = std::move(read.records);
    viewed.next_offset = read.next_offset;
    viewed.complete = read.complete;
    viewed.dropped_tail = read.filtered_end_offset.has_value();
  }
  if (rewrite_) {
    STROM_TRY(RewriteStatistics(&viewed.records));
  }
  return viewed;
}

Status FetchView::RewriteStatistics(rt::Pieces* records) const {
  if (records->empty()) return Status::OK();
  STROM_ASSIGN(const Buffer bytes, rt::Flatten(*records));
  MutableBuffer rewritten(bytes.size());
  ByteView rest = bytes.view();
  while (!rest.empty()) {
    STROM_ASSIGN(const format::LogBatchHeader header, format::DecodeLogBatchHeader(rest));
    const ByteView batch = rest.first(header.total_size);
    const format::RewrittenBatch parts = format::RewriteToMagic0(header, batch);
    rewritten.Append(ByteView(parts.header));
    rewritten.Append(batch.subspan(parts.rest_position, parts.rest_size));
    rest = rest.subspan(header.total_size);
  }
  *records = {};
  records->Add(rewritten.Freeze());
  return Status::OK();
}

Result<std::shared_ptr<FetchView>> FetchViewCache::Get(std::shared_ptr<const meta::TableEntry> table, const FetchWish& wish) {
  if (wish.projected_fields != nullptr) {
    if (table->info->config.log_format != model::LogFormat::kArrow) {
      return MakeError(ErrorCode::kInvalidColumnProjection,
                       "{} is in another log format than ARROW: its columns cannot be read one by one",
                       table->info->path.ToString());
    }
    STROM_TRY(format::CheckProjection(*wish.projected_fields, table->info->descriptor.schema.columns.size()));
  }
  if (wish.filter != nullptr) return std::make_shared<FetchView>(std::move(table), wish);

  Key key{table->info->table_id, wish.rewrite_statistics,
          wish.projected_fields == nullptr ? std::vector<int32_t>() : *wish.projected_fields};
  const auto found = views_.find(key);
  if (found != views_.end() && found->second->table() == table) return found->second;
  if (views_.size() >= kViewsMax) views_.clear();
  auto view = std::make_shared<FetchView>(std::move(table), wish);
  views_[std::move(key)] = view;
  return view;
}

}  // namespace strom::replica
