#include "sim/reader.h"

#include <algorithm>

#include "rpc/messages.h"

namespace strom::sim {

using format::Predicate;
using format::PredicateFunction;
using format::Value;

Predicate Readers::DrawLeaf() {
  Random& random = world_.random;
  Predicate leaf;
  const bool text = random.OneIn(3);
  leaf.column_id = text ? 2 : 1;
  static constexpr PredicateFunction kNumbers[] = {PredicateFunction::kEqual,          PredicateFunction::kNotEqual, PredicateFunction::kLess,
                                                   PredicateFunction::kLessOrEqual,    PredicateFunction::kGreater,  PredicateFunction::kGreaterOrEqual,
                                                   PredicateFunction::kIsNull,         PredicateFunction::kIsNotNull, PredicateFunction::kIn};
  static constexpr PredicateFunction kTexts[] = {PredicateFunction::kEqual, PredicateFunction::kLessOrEqual, PredicateFunction::kGreaterOrEqual,
                                                 PredicateFunction::kStartsWith, PredicateFunction::kIsNull};
  leaf.function = text ? kTexts[random.Below(std::size(kTexts))] : kNumbers[random.Below(std::size(kNumbers))];
  if (leaf.function == PredicateFunction::kIsNull || leaf.function == PredicateFunction::kIsNotNull) return leaf;
  static constexpr const char* kLiterals[] = {"", "a", "ab", "abc", "b", "zz", "zzz"};
  const int64_t count = leaf.function == PredicateFunction::kIn ? random.Between(1, 3) : 1;
  for (int64_t i = 0; i < count; ++i) {
    leaf.literals.push_back(text ? Value::String(kLiterals[random.Below(std::size(kLiterals))]) : Value::Integer(random.Between(-11, 11)));
  }
  return leaf;
}

Predicate Readers::DrawFilter(int depth) {
  if (depth == 0 || !world_.random.OneIn(3)) return DrawLeaf();
  Predicate node;
  node.kind = world_.random.OneIn(2) ? Predicate::Kind::kAnd : Predicate::Kind::kOr;
  node.children = {DrawFilter(depth - 1), DrawFilter(depth - 1)};
  return node;
}

FetchWish Readers::DrawWish() {
  Random& random = world_.random;
  FetchWish wish;
  for (int32_t bucket = 0; bucket < world_.settings.buckets; ++bucket) {
    if (!wish.items.empty() && !random.OneIn(3)) continue;
    const std::shared_ptr<replica::Replica> replica = world_.machine.FindReplica(bucket);
    const int64_t start = replica->log()->log_start_offset().value();
    const int64_t end = replica->high_watermark().value();
    int64_t offset = end;
    const uint64_t kind = random.Below(10);
    if (kind < 3) offset = tails_[bucket];
    if (kind >= 3 && kind < 7) offset = random.Between(start, end);
    if (kind == 7) offset = -2;  // the earliest
    if (kind == 8) offset = random.Between(std::max<int64_t>(0, start - 5), end + 5);
    wish.items.push_back({bucket, offset, replica->log()->log_end_offset().value()});
  }
  wish.max_bytes = static_cast<int32_t>(random.OneIn(3) ? random.Between(1, 400) : random.OneIn(2) ? random.Between(400, 6000) : 1 << 20);
  wish.wait_ms = static_cast<int32_t>(random.OneIn(2) ? 0 : random.Between(1, 5000));
  wish.min_bytes = random.OneIn(10) ? 0 : 1;
  if (random.OneIn(3)) {
    const auto columns = static_cast<int32_t>(world_.schema(world_.latest_schema()).columns.size());
    for (int32_t column = 0; column < columns; ++column) {
      if (random.OneIn(2)) wish.projection.push_back(column);
    }
    if (wish.projection.empty()) wish.projection.push_back(static_cast<int32_t>(random.Below(static_cast<uint64_t>(columns))));
  }
  if (random.OneIn(4)) wish.filter = DrawFilter(2);
  wish.shard = static_cast<uint32_t>(random.Below(Machine::kShards));
  return wish;
}

void Readers::SendFetch() {
  const FetchWish wish = DrawWish();
  const uint64_t number = ++fetches_;
  world_.history.Note("fetch {}: {}", number, wish.ToString());
  waiting_.emplace(number, wish);
  const rt::MonotonicTime asked = world_.machine.executor().Now();
  world_.machine.Ask(wish.shard, rpc::ApiKey::kFetchLog, EncodeFetch(world_, wish), [this, number, asked](Result<Buffer> body) {
    answers_.push_back({waiting_.at(number), std::move(body), asked, world_.machine.executor().Now(), world_.machine.stopping()});
    waiting_.erase(number);
  });
}

void Readers::Settle() {
  while (!answers_.empty() && !world_.history.failed()) {
    const ReadChecker::Answer answer = std::move(answers_.front());
    answers_.pop_front();
    if (!checker_.Check(answer) || !answer.wish.plain()) continue;
    const Result<std::vector<FetchedBucket>> fetched = DecodeFetch(*answer.body);
    for (const FetchedBucket& bucket : *fetched) {
      int64_t& tail = tails_[bucket.bucket];
      if (bucket.error != ErrorCode::kNone) {
        tail = world_.buckets[static_cast<size_t>(bucket.bucket)].start();
        continue;
      }
      for (ByteView rest = bucket.records.view(); !rest.empty();) {
        const format::LogBatchHeader header = *format::DecodeLogBatchHeader(rest);
        tail = header.next_offset().value();
        rest = rest.subspan(header.total_size);
      }
    }
  }
}

void Readers::CheckWaits() {
  for (const auto& [number, wish] : waiting_) {
    for (const FetchWish::Item& item : wish.items) {
      const std::shared_ptr<replica::Replica> replica = world_.machine.FindReplica(item.bucket);
      if (replica == nullptr || wish.min_bytes > 1) continue;
      const int64_t offset = item.offset < 0 ? replica->log()->log_start_offset().value() : item.offset;
      if (replica->high_watermark().value() <= offset) continue;
      world_.history.Fail("an append wakes who waits for it", "fetch {} ({}) still waits, and the high watermark of bucket {} is {}", number,
                          wish.ToString(), item.bucket, replica->high_watermark());
      return;
    }
  }
}

Result<int64_t> Readers::AskTime(int32_t bucket, int64_t time) {
  rpc::ListOffsetsRequest message;
  message.follower_server_id = -1;
  message.offset_type = static_cast<int32_t>(rpc::ListOffsetsType::kTimestamp);
  message.table_id = world_.table_id;
  message.bucket_id = {bucket};
  message.start_timestamp = time;
  const auto shard = static_cast<uint32_t>(world_.random.Below(Machine::kShards));
  STROM_ASSIGN(const Buffer body, world_.machine.AskNow(shard, rpc::ApiKey::kListOffsets, rpc::Encode(message)));
  rpc::ListOffsetsResponse response;
  STROM_TRY(rpc::Decode(body, &response));
  const rpc::PbListOffsetsRespForBucket& answer = response.buckets_resp.front();
  if (answer.error_code.value_or(0) != 0) return MakeError(static_cast<ErrorCode>(*answer.error_code), "{}", answer.error_message.value_or(""));
  return answer.offset.value_or(-1);
}

void Readers::CheckTimes() {
  Random& random = world_.random;
  const auto bucket = static_cast<int32_t>(random.Below(static_cast<uint64_t>(world_.settings.buckets)));
  const BucketHistory& known = world_.buckets[static_cast<size_t>(bucket)];
  for (int i = 0; i < 3 && !world_.history.failed(); ++i) {
    const std::shared_ptr<replica::Replica> replica = world_.machine.FindReplica(bucket);
    if (replica == nullptr || replica->log() == nullptr) return;
    const int64_t before = replica->high_watermark().value();
    if (!checker_.Audit(bucket) || known.places().empty()) return;
    auto near = known.places().begin();
    std::advance(near, static_cast<ptrdiff_t>(random.Below(known.places().size())));
    if (!near->second.timestamp) return;
    const int64_t wall = world_.machine.executor().WallClockNow().value();
    int64_t time = *near->second.timestamp + random.Between(-1, 1);
    if (random.OneIn(10)) time = 0;
    if (random.OneIn(10)) time = wall;
    const int64_t newest = replica->log()->max_timestamp().value();
    if (random.OneIn(10)) time = std::max(wall, newest) + random.Between(60'000, 900'000);
    const Result<int64_t> answer = AskTime(bucket, time);
    if (answer.code() == ErrorCode::kNetworkException) return;
    world_.history.Note("time {} of bucket {} is {}", time, bucket, answer.ok() ? *answer : -1);
    if (time > std::max(wall, newest)) {
      if (answer.code() != ErrorCode::kInvalidTimestamp) {
        world_.history.Fail("L10 no offset of the future", "bucket {} time {}: {}", bucket, time, answer.ToString());
      }
      continue;
    }
    // Others may have appended meanwhile: only what was there before can be told for sure.
    int64_t expected = -1;
    for (const auto& [base, place] : known.places()) {
      if (base >= before || base < known.start()) continue;
      if (place.timestamp && *place.timestamp >= time) {
        expected = base;
        break;
      }
    }
    const bool right = answer.ok() && (expected >= 0 ? *answer == expected : *answer >= before);
    if (!right && replica->log()->log_start_offset().value() == known.start()) {
      world_.history.Fail("L10 the offset of a time", "bucket {} time {}: {} where {} is right (high watermark {})", bucket, time,
                          answer.ok() ? fmt::format("{}", *answer) : answer.ToString(), expected, before);
    }
  }
}

}  // namespace strom::sim
