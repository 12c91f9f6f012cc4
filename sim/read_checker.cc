#include "sim/read_checker.h"

#include <algorithm>

#include "format/arrow_reader.h"

namespace strom::sim {

using format::Value;

bool ReadChecker::Check(const Answer& answer) {
  History& history = world_.history;
  if (answer.body.code() == ErrorCode::kNetworkException) return false;
  if (!answer.body.ok()) {
    history.Fail("fetch is answered", "{}: {}", answer.wish.ToString(), answer.body.ToString());
    return true;
  }
  const Result<std::vector<FetchedBucket>> fetched = DecodeFetch(*answer.body);
  if (!fetched.ok() || fetched->size() != answer.wish.items.size()) {
    history.Fail("fetch is answered", "{}: no answer that fits: {}", answer.wish.ToString(), fetched.ToString());
    return true;
  }
  bool news = false;
  for (size_t i = 0; i < fetched->size() && !history.failed(); ++i) {
    const FetchedBucket& bucket = (*fetched)[i];
    history.Note("answer: bucket {} {} high watermark {} start {} bytes {} filtered end {}", bucket.bucket, ErrorCodeName(bucket.error),
                 bucket.high_watermark, bucket.log_start, bucket.records.size(), bucket.filtered_end.value_or(-1));
    news = news || bucket.error != ErrorCode::kNone || !bucket.records.empty() || bucket.filtered_end;
    CheckBucket(answer.wish, answer.wish.items[i], bucket);
  }
  const rt::Duration waited = answer.answered - answer.asked;
  const rt::Duration allowed = std::chrono::milliseconds(answer.wish.wait_ms);
  if (waited > allowed) history.Fail("a fetch waits for its time", "{} waited {} us", answer.wish.ToString(), waited.count() / 1000);
  if (!news && !answer.stopping && answer.wish.min_bytes > 0 && waited < allowed) {
    history.Fail("a fetch waits for its time", "{} came back empty after {} us", answer.wish.ToString(), waited.count() / 1000);
  }
  if (!news) {
    for (const FetchWish::Item& item : answer.wish.items) {
      for (const FetchedBucket& bucket : *fetched) {
        const int64_t from = item.offset < 0 ? bucket.log_start : item.offset;
        if (bucket.bucket == item.bucket && from < bucket.high_watermark) {
          history.Fail("no reader starves", "{} got nothing, and the high watermark of bucket {} is {}", answer.wish.ToString(), item.bucket,
                       bucket.high_watermark);
        }
      }
    }
  }
  return true;
}

void ReadChecker::CheckBucket(const FetchWish& wish, const FetchWish::Item& item, const FetchedBucket& fetched) {
  History& history = world_.history;
  const BucketHistory& known = world_.buckets[static_cast<size_t>(fetched.bucket)];
  if (fetched.error != ErrorCode::kNone) {
    const std::shared_ptr<replica::Replica> replica = world_.machine.FindReplica(fetched.bucket);
    const bool outside = item.offset < known.start() || item.offset > item.log_end ||
                         (replica != nullptr && replica->log() != nullptr && item.offset < replica->log()->log_start_offset().value());
    if (fetched.error == ErrorCode::kLogOffsetOutOfRange && outside) return;
    history.Fail("a fetch is served", "{}: bucket {}: {} {}", wish.ToString(), fetched.bucket, ErrorCodeName(fetched.error), fetched.message);
    return;
  }
  CheckChain(wish, item, fetched, Split(fetched));
}

std::vector<ReadChecker::Batch> ReadChecker::Split(const FetchedBucket& fetched) {
  std::vector<Batch> batches;
  ByteView rest = fetched.records.view();
  while (!rest.empty()) {
    const Result<format::LogBatchHeader> header = format::DecodeLogBatchHeader(rest);
    if (!header.ok() || header->total_size > rest.size()) {
      world_.history.Fail("L6 no corrupt batch is served", "bucket {}: {} bytes are left that form no batch: {}", fetched.bucket, rest.size(),
                          header.ToString());
      break;
    }
    batches.push_back({*header, rest.first(header->total_size)});
    rest = rest.subspan(header->total_size);
  }
  return batches;
}

void ReadChecker::CheckChain(const FetchWish& wish, const FetchWish::Item& item, const FetchedBucket& fetched,
                             const std::vector<Batch>& batches) {
  History& history = world_.history;
  int64_t expected = item.offset < 0 ? fetched.log_start : item.offset;
  int64_t timestamp = -1;
  bool first = true;
  for (const Batch& batch : batches) {
    const int64_t base = batch.header.base_offset.value();
    const int64_t next = batch.header.next_offset().value();
    const bool begins_right = first ? base <= expected && expected < next : base == expected;
    if (wish.filter ? (first ? next <= expected : base < expected) : !begins_right) {
      history.Fail("L4 offsets are dense", "{}: bucket {}: a batch of offsets {} to {} where {} must be", wish.ToString(), fetched.bucket, base,
                   next - 1, expected);
      return;
    }
    if (wish.filter && base > expected) CheckDropped(wish, fetched.bucket, expected, base);
    if (batch.header.commit_timestamp.value() < timestamp) {
      history.Fail("L4 commit times are in order", "bucket {}: the batch at {} is stamped {} after {}", fetched.bucket, base,
                   batch.header.commit_timestamp, timestamp);
    }
    timestamp = batch.header.commit_timestamp.value();
    if (wish.projection.empty()) {
      CheckPlain(fetched, batch);
    } else {
      CheckProjected(wish, fetched, batch);
    }
    if (history.failed()) return;
    expected = next;
    first = false;
  }
  if (expected > fetched.high_watermark && !batches.empty()) {
    history.Fail("L3 reads end below the high watermark", "{}: bucket {} up to {}, with the high watermark at {}", wish.ToString(), fetched.bucket,
                 expected, fetched.high_watermark);
  }
  if (fetched.filtered_end) {
    if (*fetched.filtered_end > fetched.high_watermark) {
      history.Fail("L3 reads end below the high watermark", "bucket {}: a filtered end of {}, with the high watermark at {}", fetched.bucket,
                   *fetched.filtered_end, fetched.high_watermark);
    }
    CheckDropped(wish, fetched.bucket, expected, *fetched.filtered_end);
  }
  if (wish.plain() && batches.size() > 1 && fetched.records.size() > static_cast<size_t>(wish.max_bytes)) {
    history.Fail("a fetch keeps its limit", "{} got {} bytes of bucket {}", wish.ToString(), fetched.records.size(), fetched.bucket);
  }
}

void ReadChecker::CheckPlain(const FetchedBucket& fetched, const Batch& batch) {
  const Status sound = format::CheckLogBatch(batch.header, batch.bytes);
  SentBatch* sent = world_.batches.Find(batch.header, batch.bytes);
  if (!sound.ok() || sent == nullptr) {
    world_.history.Fail("L6 no corrupt or invented batch is served", "bucket {} offset {}: {}", fetched.bucket, batch.header.base_offset,
                        sound.ok() ? "nobody has sent this batch" : sound.ToString());
    return;
  }
  world_.buckets[static_cast<size_t>(fetched.bucket)].Read(sent, batch.header.base_offset.value(), batch.header.commit_timestamp.value(),
                                                           world_.settings.group_commit);
}

/// What is at `base`; looks at the whole bucket if nobody has read there yet. Null when it is gone by now.
const BucketHistory::Place* ReadChecker::FindPlace(int32_t bucket, int64_t base) {
  const BucketHistory& known = world_.buckets[static_cast<size_t>(bucket)];
  const BucketHistory::Place* place = known.Find(base);
  if (place == nullptr && base >= known.start() && Audit(bucket)) place = known.Find(base);
  if (place == nullptr && base >= known.start() && world_.machine.running() && !world_.machine.disk().crashed()) {
    world_.history.Fail("L11 a view shows what is there", "bucket {}: a batch at offset {}, where a plain read finds none", bucket, base);
  }
  return place;
}

void ReadChecker::CheckProjected(const FetchWish& wish, const FetchedBucket& fetched, const Batch& batch) {
  const BucketHistory::Place* place = FindPlace(fetched.bucket, batch.header.base_offset.value());
  if (place == nullptr) return;
  const SentBatch& sent = *place->batch;
  model::Schema projected;
  for (const int32_t column : wish.projection) projected.columns.push_back(world_.schema(world_.latest_schema()).columns[static_cast<size_t>(column)]);
  const Result<format::DecodedArrowBatch> decoded = format::DecodeArrowBatch(batch.bytes, projected);
  const std::string what = fmt::format("{} bucket {} offset {}, of {}", wish.ToString(), fetched.bucket, batch.header.base_offset, sent.ToString());
  if (!decoded.ok() || decoded->rows.size() != sent.rows.size()) {
    world_.history.Fail("L11 a projection changes no value", "{}: {} rows, {}", what, decoded.ok() ? decoded->rows.size() : 0, decoded.ToString());
    return;
  }
  for (size_t row = 0; row < sent.rows.size(); ++row) {
    for (size_t i = 0; i < wish.projection.size(); ++i) {
      const auto column = static_cast<size_t>(wish.projection[i]);
      const Value::Items& written = sent.rows[row].items();
      const Value expected = column < written.size() ? written[column] : Value::Null();
      const Value& got = decoded->rows[row].items()[i];
      if (got == expected) continue;
      world_.history.Fail("L11 a projection changes no value", "{}: row {} column {} is {} where {} was written", what, row, column, got.ToString(),
                          expected.ToString());
      return;
    }
  }
  if (place->timestamp && *place->timestamp != batch.header.commit_timestamp.value()) {
    world_.history.Fail("L11 a projection changes no value", "{}: stamped {} where {} was", what, batch.header.commit_timestamp, *place->timestamp);
  }
}

/// A filter left out [from, to): no row in there may match.
void ReadChecker::CheckDropped(const FetchWish& wish, int32_t bucket, int64_t from, int64_t to) {
  const BucketHistory& known = world_.buckets[static_cast<size_t>(bucket)];
  for (int64_t at = std::max(from, known.start()); at < to;) {
    // `from` may lie inside of a batch.
    auto place = known.places().upper_bound(at);
    const bool found = place != known.places().begin() && std::prev(place)->second.end(std::prev(place)->first) > at;
    if (!found) {
      if (!Audit(bucket) || world_.history.failed()) return;
      place = known.places().upper_bound(at);
      if (place == known.places().begin() || std::prev(place)->second.end(std::prev(place)->first) <= at) {
        if (at >= known.start()) world_.history.Fail("L11 a view shows what is there", "bucket {}: nothing at the filtered offset {}", bucket, at);
        return;
      }
    }
    const auto& [base, here] = *std::prev(place);
    for (const Value& row : here.batch->rows) {
      if (!Matches(*wish.filter, row)) continue;
      world_.history.Fail("L11 a filter drops no row that matches", "{}: bucket {} lacks {} at offset {}, whose row {} matches", wish.ToString(), bucket,
                          here.batch->ToString(), base, row.ToString());
      return;
    }
    at = here.end(base);
  }
}

bool ReadChecker::Audit(int32_t bucket) {
  Machine& machine = world_.machine;
  BucketHistory& known = world_.buckets[static_cast<size_t>(bucket)];
  const std::shared_ptr<replica::Replica> replica = machine.FindReplica(bucket);
  if (replica == nullptr || replica->log() == nullptr) return false;
  const int64_t start = replica->log()->log_start_offset().value();
  const int64_t end = replica->high_watermark().value();
  int64_t at = start;
  while (at < end && !world_.history.failed()) {
    FetchWish wish;
    wish.items = {{bucket, at, end}};
    wish.max_bytes = 8 << 20;
    const Result<Buffer> body = machine.AskNow(0, rpc::ApiKey::kFetchLog, EncodeFetch(world_, wish));
    if (!body.ok()) return false;
    const Result<std::vector<FetchedBucket>> fetched = DecodeFetch(*body);
    if (!fetched.ok() || fetched->size() != 1) {
      world_.history.Fail("fetch is answered", "{}", fetched.ToString());
      return false;
    }
    const FetchedBucket& part = fetched->front();
    // Retention may have run meanwhile.
    if (part.error == ErrorCode::kLogOffsetOutOfRange && at < replica->log()->log_start_offset().value()) return true;
    if (part.error != ErrorCode::kNone || part.records.empty()) {
      world_.history.Fail("all that is committed is readable", "bucket {} at {} of {}: {} {}", bucket, at, end, ErrorCodeName(part.error), part.message);
      return false;
    }
    CheckChain(wish, wish.items.front(), part, Split(part));
    for (const Batch& batch : Split(part)) {
      const auto hole = known.places().lower_bound(at);
      if (hole != known.places().end() && hole->first < batch.header.base_offset.value()) {
        world_.history.Fail("L3 what is known stays", "bucket {}: {} at offset {} is not there any more", bucket, hole->second.batch->ToString(), hole->first);
      }
      at = batch.header.next_offset().value();
    }
  }
  return !world_.history.failed();
}

}  // namespace strom::sim
