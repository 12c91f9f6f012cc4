#include "meta/meta_store.h"

#include "base/endian.h"

namespace strom::meta {

Transaction& Transaction::Append(Transaction other) {
  for (Op& op : other.ops_) ops_.push_back(std::move(op));
  return *this;
}

std::string EncodeCounter(int64_t value) {
  std::string data(sizeof(value), '\0');
  StoreBe(data.data(), value);
  return data;
}

Result<int64_t> DecodeCounter(std::string_view data) {
  if (data.size() != sizeof(int64_t)) {
    return MakeError(ErrorCode::kCorruptData, "a metadata counter has {} bytes instead of 8", data.size());
  }
  return LoadBe<int64_t>(data.data());
}

Status ValidatePath(std::string_view path) {
  if (path.empty() || path.front() != '/' || path.size() == 1 || path.back() == '/') {
    return MakeError(ErrorCode::kUnknownServerError, "'{}' is no path of a metadata node", path);
  }
  if (path.find("//") != std::string_view::npos || path.find('\0') != std::string_view::npos) {
    return MakeError(ErrorCode::kUnknownServerError, "the metadata path '{}' has an empty name or a NUL in it", path);
  }
  return Status::OK();
}

rt::Task<Result<int64_t>> AddToCounter(MetaStore* store, std::string path, int64_t delta) {
  constexpr int kTriesMax = 10;
  Status last;
  for (int attempt = 0; attempt < kTriesMax; ++attempt) {
    Result<std::optional<Node>> read = co_await store->Get(path);
    STROM_CO_ASSIGN(std::optional<Node> node, std::move(read));
    int64_t before = 0;
    // A node without data is a parent that somebody made on the way: the counter has not begun.
    if (node && !node->data.empty()) {
      STROM_CO_ASSIGN(before, DecodeCounter(node->data));
    }
    Transaction change;
    if (node) {
      change.Set(path, EncodeCounter(before + delta), node->version);
    } else {
      change.Create(path, EncodeCounter(before + delta));
    }
    last = co_await store->Commit(std::move(change));
    if (last.ok()) co_return before;
    if (last.code() != ErrorCode::kVersionConflict && last.code() != ErrorCode::kAlreadyExists) break;
  }
  co_return last;
}

}  // namespace strom::meta
