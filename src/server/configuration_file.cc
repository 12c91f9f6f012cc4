#include <yaml-cpp/yaml.h>

#include "server/server_options.h"

namespace strom::server {

namespace {

Status Flatten(const std::string& file, const std::string& prefix, const YAML::Node& node,
               model::Configuration* configuration, int depth) {
  constexpr int kDepthMax = 16;
  if (depth > kDepthMax) return MakeError(ErrorCode::kInvalidConfig, "{}: '{}' is nested too deeply", file, prefix);
  switch (node.Type()) {
    case YAML::NodeType::Map:
      for (const auto& entry : node) {
        const std::string key = entry.first.Scalar();
        STROM_TRY(Flatten(file, prefix.empty() ? key : prefix + "." + key, entry.second, configuration, depth + 1));
      }
      return Status::OK();
    case YAML::NodeType::Sequence: {
      // A list is written as the comma list that the keys take.
      std::string joined;
      for (const auto& item : node) {
        if (!item.IsScalar()) break;
        if (!joined.empty()) joined += ",";
        joined += item.Scalar();
      }
      return configuration->Set(prefix, joined);
    }
    case YAML::NodeType::Scalar: {
      const Status set = configuration->Set(prefix, node.Scalar());
      if (set.ok()) return set;
      return MakeError(set.code(), "{} line {}: {}", file, node.Mark().line + 1, set.error().message);
    }
    default: return Status::OK();  // a key without a value is as if it were not there
  }
}

}  // namespace

Status ReadConfigurationFile(const std::string& path, model::Configuration* configuration) {
  try {
    const YAML::Node root = YAML::LoadFile(path);
    if (root.IsNull()) return Status::OK();
    if (!root.IsMap()) return MakeError(ErrorCode::kInvalidConfig, "{}: lines of the form 'key: value' are expected", path);
    return Flatten(path, "", root, configuration, 0);
  } catch (const YAML::BadFile&) {
    return MakeError(ErrorCode::kInvalidConfig, "the configuration file {} cannot be read", path);
  } catch (const YAML::Exception& e) {
    return MakeError(ErrorCode::kInvalidConfig, "{} line {}: {}", path, e.mark.line + 1, e.msg);
  }
}

}  // namespace strom::server
