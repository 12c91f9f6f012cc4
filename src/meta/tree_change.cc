#include "meta/tree_change.h"

#include <algorithm>
#include <limits>

namespace strom::meta {

bool IsAtOrBelow(std::string_view path, std::string_view root) {
  if (root == "/") return true;
  return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

std::string_view ParentPath(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
}

Status TreeChange::Apply(const Transaction& transaction, int64_t sequence) {
  pending_.clear();
  pending_changes_.clear();
  STROM_TRY(ReadAhead(transaction));
  for (const Transaction::Op& op : transaction.ops()) {
    STROM_TRY(ApplyOp(op, sequence));
  }
  while (!pending_.empty()) {
    Nodes::node_type entry = pending_.extract(pending_.begin());
    const auto old = nodes_.find(entry.key());
    if (old == nodes_.end()) {
      nodes_.insert(std::move(entry));
    } else {
      old->second = std::move(entry.mapped());
    }
  }
  for (Change& change : pending_changes_) changes_.push_back(std::move(change));
  return Status::OK();
}

Status TreeChange::ReadAhead(const Transaction& transaction) {
  constexpr size_t kWorthSorting = 64;
  if (transaction.ops().size() < kWorthSorting) return Status::OK();
  std::vector<std::string> paths;
  for (const Transaction::Op& op : transaction.ops()) paths.push_back(op.path);
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    STROM_TRY(Read(path));
  }
  return Status::OK();
}

Status TreeChange::ApplyOp(const Transaction::Op& op, int64_t sequence) {
  STROM_TRY(ValidatePath(op.path));
  switch (op.kind) {
    case Transaction::Kind::kCreate:
      return Create(op, sequence);
    case Transaction::Kind::kPut: {
      STROM_ASSIGN(std::optional<Node> old, Read(op.path));
      if (!old) return Create(op, sequence);
      [[fallthrough]];
    }
    case Transaction::Kind::kSet: {
      STROM_ASSIGN(Node node, Expect(op));
      node.data = op.data;
      // Like ZooKeeper, the version may wrap; nobody sets one node two billion times between two looks.
      node.version = node.version == std::numeric_limits<int32_t>::max() ? 0 : node.version + 1;
      Write(Change::Kind::kChanged, op.path, std::move(node), op.data);
      return Status::OK();
    }
    case Transaction::Kind::kDelete: {
      STROM_ASSIGN(Node node, Expect(op));
      STROM_ASSIGN(std::vector<std::string> below, PathsBelow(op.path));
      if (!below.empty()) {
        return MakeError(ErrorCode::kVersionConflict, "metadata node {} has children ({}), so it is not deleted", op.path,
                         below.front());
      }
      Write(Change::Kind::kDeleted, op.path, std::nullopt, std::move(node.data));
      return Status::OK();
    }
    case Transaction::Kind::kDeleteTree:
      return DeleteTree(op.path);
    case Transaction::Kind::kCheck: {
      STROM_TRY(Expect(op));
      return Status::OK();
    }
  }
  return Status::OK();
}

Status TreeChange::Create(const Transaction::Op& op, int64_t sequence) {
  STROM_ASSIGN(std::optional<Node> old, Read(op.path));
  if (old) return MakeError(ErrorCode::kAlreadyExists, "metadata node {} exists", op.path);
  STROM_TRY(CreateParents(op.path, sequence));
  Write(Change::Kind::kCreated, op.path, Node{op.data, 0, sequence, op.ephemeral}, op.data);
  return Status::OK();
}

Status TreeChange::CreateParents(const std::string& path, int64_t sequence) {
  std::vector<std::string> missing;
  for (std::string_view parent = ParentPath(path); parent != "/"; parent = ParentPath(parent)) {
    STROM_ASSIGN(std::optional<Node> node, Read(std::string(parent)));
    if (node) {
      if (node->ephemeral) {
        return MakeError(ErrorCode::kVersionConflict, "metadata node {} is ephemeral and cannot have children", parent);
      }
      break;
    }
    missing.emplace_back(parent);
  }
  for (size_t i = missing.size(); i-- > 0;) {
    Write(Change::Kind::kCreated, missing[i], Node{{}, 0, sequence, false}, {});
  }
  return Status::OK();
}

Status TreeChange::DeleteTree(const std::string& path) {
  STROM_ASSIGN(std::vector<std::string> below, PathsBelow(path));
  // Children before their parents, as a client of ZooKeeper would have to do it.
  std::sort(below.begin(), below.end(), std::greater<>());
  below.push_back(path);
  for (const std::string& each : below) {
    STROM_ASSIGN(std::optional<Node> node, Read(each));
    if (node) Write(Change::Kind::kDeleted, each, std::nullopt, std::move(node->data));
  }
  return Status::OK();
}

Result<std::optional<Node>> TreeChange::Read(const std::string& path) {
  if (auto found = pending_.find(path); found != pending_.end()) return found->second;
  if (auto found = nodes_.find(path); found != nodes_.end()) return found->second;
  if (auto found = committed_.find(path); found != committed_.end()) return found->second;
  STROM_ASSIGN(std::optional<Node> node, base_->Read(path));
  committed_[path] = node;
  return node;
}

Result<std::vector<std::string>> TreeChange::PathsBelow(const std::string& path) {
  std::map<std::string, bool> alive;
  STROM_ASSIGN(std::vector<std::string> committed, base_->PathsBelow(path, std::numeric_limits<size_t>::max()));
  for (std::string& each : committed) alive[std::move(each)] = true;
  const std::string prefix = path + "/";
  for (const Nodes* layer : {&nodes_, &pending_}) {
    for (auto at = layer->lower_bound(prefix); at != layer->end() && at->first.starts_with(prefix); ++at) {
      alive[at->first] = at->second.has_value();
    }
  }
  std::vector<std::string> paths;
  for (const auto& [each, there] : alive) {
    if (there) paths.push_back(each);
  }
  return paths;
}

Result<Node> TreeChange::Expect(const Transaction::Op& op) {
  STROM_ASSIGN(std::optional<Node> node, Read(op.path));
  if (!node) return MakeError(ErrorCode::kNotFound, "metadata node {} does not exist", op.path);
  if (op.version && *op.version != node->version) {
    return MakeError(ErrorCode::kVersionConflict, "metadata node {} has version {}, not {}", op.path, node->version, *op.version);
  }
  return std::move(*node);
}

void TreeChange::Write(Change::Kind kind, const std::string& path, std::optional<Node> node, std::string data) {
  pending_[path] = std::move(node);
  pending_changes_.push_back({kind, path, std::move(data)});
}

}  // namespace strom::meta
