#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "format/field_view.h"
#include "format/value.h"
#include "model/schema.h"

/// The golden vectors: bytes made by the official Java code, and how this program reads them (vectors/README.md).
namespace strom::vectors {

using Json = nlohmann::ordered_json;

/// One vector of the index.
struct Vector {
  std::string id;
  std::string kind;
  Json json;
  std::string folder;  // of vectors.json; files are relative to it

  bool has(const char* key) const { return json.contains(key); }
  const Json& at(const char* key) const { return json.at(key); }
  std::string text(const char* key) const { return json.at(key).get<std::string>(); }
  /// The bytes of a `{size, hex}` or `{size, file}` artifact.
  std::string bytes(const char* key) const { return Artifact(json.at(key)); }
  std::string Artifact(const Json& artifact) const;
};

/// The index of a folder; the error says what is wrong with it.
Result<std::vector<Vector>> LoadVectors(const std::string& folder);

/// What is done with a vector of a kind: GoogleTest expectations.
using Check = std::function<void(const Vector&)>;
using Checks = std::map<std::string, Check>;

// One function for each file of checks: it adds the kinds that it knows.
void AddRowChecks(Checks* checks);
void AddKeyChecks(Checks* checks);
void AddBatchChecks(Checks* checks);
/// After AddBatchChecks: it looks at the ARROW ones of the same vectors, too.
void AddArrowChecks(Checks* checks);
void AddModelChecks(Checks* checks);
/// `vectors` must outlive the checks: a damaged segment is made from another vector.
void AddLogChecks(const std::vector<Vector>& vectors, Checks* checks);
void AddKvChecks(Checks* checks);

// --- Readers of the index's forms

std::string FromHex(std::string_view hex);
std::string ToHex(ByteView bytes);
inline std::string ToHex(std::string_view bytes) { return ToHex(AsBytes(bytes)); }

/// `columns` as fields and as a schema whose column ids are positions.
std::vector<model::DataField> FieldsFrom(const Json& columns);
model::Schema SchemaFrom(const Json& columns);

/// A value of that type in the index's form.
format::Value ValueFrom(const model::DataType& type, const Json& json);
/// A row: a list in column order.
format::Value RowFrom(format::Fields fields, const Json& json);

}  // namespace strom::vectors

namespace strom::format {
/// Lets GoogleTest print values.
void PrintTo(const Value& value, std::ostream* out);
}  // namespace strom::format
