#include "sim/writer.h"

#include <algorithm>

#include "rpc/messages.h"

namespace strom::sim {

namespace {
constexpr size_t kRecentMax = 8;
}  // namespace

std::string Writer::ToString() const {
  return fmt::format("writer {} (id {}, bucket {}, acks {})", traits_.number, id_, traits_.bucket, traits_.acks);
}

/// Asks for a writer id when there is none yet.
bool Writer::Open() {
  if (!traits_.idempotent || id_ != kNoWriterId) return true;
  const Result<Buffer> body = world_.machine.AskNow(0, rpc::ApiKey::kInitWriter, rpc::Encode(rpc::InitWriterRequest{}));
  if (!body.ok()) {
    if (body.code() != ErrorCode::kNetworkException) world_.history.Fail("writers get ids", "{}: {}", ToString(), body.ToString());
    return false;
  }
  rpc::InitWriterResponse response;
  if (!rpc::Decode(*body, &response).ok() || !world_.writer_ids.insert(response.writer_id).second) {
    world_.history.Fail("writer ids are given once", "{} got {}", ToString(), response.writer_id);
    return false;
  }
  id_ = WriterId(response.writer_id);
  next_sequence_ = 0;
  world_.history.Note("{} opens", ToString());
  return true;
}

void Writer::StartAnew() {
  world_.history.Note("{} starts anew", ToString());
  window_.clear();
  recent_.clear();
  answers_.clear();
  id_ = kNoWriterId;
  in_doubt_ = false;
}

int Writer::DrawRows() {
  Random& random = world_.random;
  if (random.OneIn(8)) return 0;
  if (random.OneIn(40)) return static_cast<int>(random.Between(60, 200));
  return static_cast<int>(random.OneIn(2) ? 1 : random.Between(2, 12));
}

SentBatch* Writer::MakeBatch(int32_t sequence, int rows) {
  // Clients that have not heard of the newest schema go on with the one before.
  const auto schema_id = static_cast<int16_t>(world_.random.OneIn(4) ? 1 : world_.latest_schema());
  return world_.batches.Make({.bucket = traits_.bucket,
                              .writer = id_,
                              .sequence = sequence,
                              .schema_id = schema_id,
                              .schema = &world_.schema(schema_id),
                              .rows = rows});
}

void Writer::Step() {
  if (!Open()) return;
  Random& random = world_.random;
  if (random.OneIn(6) && !recent_.empty()) return SendCopy();
  if (random.OneIn(25) && traits_.idempotent) return SendGap();
  const bool failed = std::any_of(window_.begin(), window_.end(), [](const Entry& entry) { return !entry.on_its_way; });
  if (failed) return Retry();
  // Idempotent clients go no further than five sequences from the oldest that is not acknowledged.
  const auto room = [this] {
    if (window_.empty()) return true;
    return traits_.idempotent ? next_sequence_ - window_.front().batches.front()->sequence < static_cast<int32_t>(kWindow) : window_.size() < kWindow;
  };
  for (int64_t i = random.Between(1, 4); i > 0 && room(); --i) SendNew();
}

void Writer::Retry() {
  if (!Open()) return;
  for (Entry& entry : window_) {
    if (!entry.on_its_way) Send(entry);
  }
}

void Writer::SendNew() {
  Entry entry;
  entry.batches.push_back(MakeBatch(traits_.idempotent ? next_sequence_++ : -1, DrawRows()));
  if (!traits_.idempotent && world_.random.OneIn(4)) entry.batches.push_back(MakeBatch(-1, DrawRows()));
  window_.push_back(std::move(entry));
  Send(window_.back());
}

void Writer::Send(Entry& entry) {
  entry.on_its_way = true;
  entry.attempt = ++attempts_;
  SendBytes({.kind = Kind::kRegular, .batches = entry.batches, .attempt = entry.attempt, .was_first = &entry == &window_.front(), .known = false});
}

void Writer::SendCopy() {
  const Entry& entry = recent_[world_.random.Below(recent_.size())];
  const bool known = traits_.idempotent && !in_doubt_ && entry.batches.front()->sequence > next_sequence_ - 1 - static_cast<int32_t>(kWindow);
  SendBytes({.kind = Kind::kCopy, .batches = entry.batches, .attempt = 0, .was_first = false, .known = known});
}

void Writer::SendGap() {
  // With a row, so that it is not the batch that will have this sequence.
  SentBatch* gap = MakeBatch(next_sequence_ + static_cast<int32_t>(world_.random.Between(1, 3)), 1);
  gap->forbidden = true;
  SendBytes({.kind = Kind::kGap, .batches = {gap}, .attempt = 0, .was_first = false, .known = false});
}

void Writer::SendBytes(Answer answer) {
  MutableBuffer records;
  for (SentBatch* batch : answer.batches) {
    ++batch->deliveries;
    records.Append(batch->bytes.view());
  }
  const Buffer bytes = records.Freeze();
  rpc::ProduceLogRequest message;
  message.acks = traits_.acks;
  message.table_id = world_.table_id;
  message.timeout_ms = 30'000;
  rpc::PbProduceLogReqForBucket bucket;
  bucket.bucket_id = traits_.bucket;
  bucket.records = bytes.text();
  message.buckets_req.push_back(bucket);
  world_.history.Note("{} sends{} {}", ToString(), answer.kind == Kind::kCopy ? " once more" : "", answer.batches.front()->ToString());
  const auto shard = static_cast<uint32_t>(traits_.number) % Machine::kShards;
  world_.machine.Ask(shard, rpc::ApiKey::kProduceLog, rpc::Encode(message), [this, answer = std::move(answer)](Result<Buffer> body) mutable {
    answer.body = std::move(body);
    answers_.push_back(std::move(answer));
  });
}

void Writer::Settle() {
  while (!answers_.empty() && !world_.history.failed()) {
    const Answer answer = std::move(answers_.front());
    answers_.pop_front();
    Check(answer);
  }
}

void Writer::Check(const Answer& answer) {
  if (answer.body.code() == ErrorCode::kNetworkException) return Refused(answer, ErrorCode::kNetworkException, "lost");
  rpc::ProduceLogResponse response;
  if (!answer.body.ok() || !rpc::Decode(*answer.body, &response).ok() || response.buckets_resp.size() != 1) {
    world_.history.Fail("an append is answered", "{}: {}", ToString(), answer.body.ToString());
    return;
  }
  const rpc::PbProduceLogRespForBucket& bucket = response.buckets_resp.front();
  if (bucket.error_code.value_or(0) != 0) {
    Refused(answer, static_cast<ErrorCode>(*bucket.error_code), bucket.error_message.value_or(""));
  } else if (answer.kind == Kind::kRegular && world_.random.OneIn(8)) {
    Refused(answer, ErrorCode::kNetworkException, "the answer is lost");
  } else {
    Acknowledge(answer, bucket.base_offset.value_or(-1));
  }
}

void Writer::Acknowledge(const Answer& answer, int64_t base) {
  world_.history.Note("{}: {} is at {}", ToString(), answer.batches.front()->ToString(), base);
  if (answer.kind == Kind::kGap) {
    world_.history.Fail("L5 a gap is refused", "{}: {} was taken at {}", ToString(), answer.batches.front()->ToString(), base);
    return;
  }
  for (SentBatch* batch : answer.batches) {
    world_.buckets[static_cast<size_t>(traits_.bucket)].Acknowledge(batch, base, world_.settings.group_commit && traits_.acks == -1);
    base += batch->offsets_count();
  }
  if (answer.kind != Kind::kRegular) return;
  const auto entry = std::find_if(window_.begin(), window_.end(), [&](const Entry& each) { return each.attempt == answer.attempt; });
  if (entry == window_.end()) return;
  recent_.push_back(std::move(*entry));
  window_.erase(entry);
  if (recent_.size() > kRecentMax) recent_.pop_front();
}

void Writer::Refused(const Answer& answer, ErrorCode code, std::string_view message) {
  world_.history.Note("{}: {} is refused: {} {}", ToString(), answer.batches.front()->ToString(), ErrorCodeName(code), message);
  const auto entry = std::find_if(window_.begin(), window_.end(), [&](const Entry& each) { return each.attempt == answer.attempt; });
  if (answer.kind == Kind::kRegular && entry != window_.end()) entry->on_its_way = false;
  if (code == ErrorCode::kNetworkException) return;
  if (code == ErrorCode::kStorageException && world_.disk_is_full) return;
  if (code == ErrorCode::kOutOfOrderSequence && traits_.idempotent) {
    if (answer.kind == Kind::kGap) return;
    if (in_doubt_) {
      if (answer.kind == Kind::kRegular) StartAnew();
      return;
    }
    const bool wrong = answer.kind == Kind::kCopy ? answer.known : answer.was_first;
    if (!wrong) return;
    world_.history.Fail("L5 the last five batches of a writer are known", "{}: {} (next is {}) is refused: {}", ToString(),
                        answer.batches.front()->ToString(), next_sequence_, message);
    return;
  }
  world_.history.Fail("an append is taken", "{}: {}: {} {}", ToString(), answer.batches.front()->ToString(), ErrorCodeName(code), message);
}

}  // namespace strom::sim
