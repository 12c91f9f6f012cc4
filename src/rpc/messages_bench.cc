// Decoding of ProduceLog requests and encoding of answers: what the protocol costs a request.

#include <benchmark/benchmark.h>

#include <string>

#include "rpc/messages.h"
#include "rt/pieces.h"

namespace {

using namespace strom;
using namespace strom::rpc;

Buffer ProduceBytes(int buckets, size_t record_bytes) {
  const std::string records(record_bytes, 'r');
  ProduceLogRequest request{.acks = -1, .table_id = 7, .timeout_ms = 30000};
  for (int i = 0; i < buckets; ++i) request.buckets_req.push_back({.bucket_id = i, .records = records, .routing_bucket_count = buckets});
  return *rt::Flatten(Encode(request));
}

void DecodeProduce(benchmark::State& state) {
  const Buffer bytes = ProduceBytes(static_cast<int>(state.range(0)), static_cast<size_t>(state.range(1)));
  for (auto _ : state) {
    ProduceLogRequest request;
    const Status status = Decode(bytes, &request);
    benchmark::DoNotOptimize(request.buckets_req.data());
    if (!status.ok()) state.SkipWithError("not decoded");
  }
}
BENCHMARK(DecodeProduce)->Args({1, 1 << 20})->Args({16, 64 << 10})->Args({200, 5 << 10});

void EncodeProduceAnswer(benchmark::State& state) {
  ProduceLogResponse response;
  for (int32_t i = 0; i < state.range(0); ++i) response.buckets_resp.push_back({.bucket_id = i, .base_offset = 123456789});
  for (auto _ : state) benchmark::DoNotOptimize(Encode(response));
}
BENCHMARK(EncodeProduceAnswer)->Arg(1)->Arg(16);

void EncodeFetchAnswer(benchmark::State& state) {
  rt::Pieces records;
  records.Add(Buffer::CopyOf(std::string(64 << 10, 'r')));
  FetchLogResponse response;
  PbFetchLogRespForTable& table = response.tables_resp.emplace_back();
  for (int32_t i = 0; i < state.range(0); ++i) {
    PbFetchLogRespForBucket& bucket = table.buckets_resp.emplace_back();
    bucket.bucket_id = i;
    bucket.high_watermark = 1 << 20;
    bucket.log_start_offset = 0;
    bucket.records = records;
  }
  for (auto _ : state) benchmark::DoNotOptimize(Encode(response));
}
BENCHMARK(EncodeFetchAnswer)->Arg(1)->Arg(16);

void MetadataOfManyBuckets(benchmark::State& state) {
  MetadataResponse response;
  PbTableMetadata& table = response.table_metadata.emplace_back();
  table.table_path = {"fluss", "orders"};
  table.table_json = "{}";
  for (int32_t i = 0; i < state.range(0); ++i) {
    table.bucket_metadata.push_back({.bucket_id = i, .leader_id = 0, .replica_id = {0}, .leader_epoch = 1, .isr = {0}});
  }
  const Buffer bytes = *rt::Flatten(Encode(response));
  for (auto _ : state) {
    const rt::Pieces encoded = Encode(response);
    MetadataResponse decoded;
    const Status status = Decode(bytes, &decoded);
    benchmark::DoNotOptimize(decoded.table_metadata.data());
    if (!status.ok() || encoded.size() != bytes.size()) state.SkipWithError("not the same");
  }
}
BENCHMARK(MetadataOfManyBuckets)->Arg(1000);

}  // namespace
