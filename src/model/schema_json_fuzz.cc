// covers: src/model/data_type_json.cc src/model/schema.cc src/model/table_descriptor.cc src/model/json_node.cc
#include "model/data_type.h"
#include "model/schema_validation.h"
#include "model/table_validation.h"

using namespace strom;
using namespace strom::model;

/// The first byte chooses the document. What was read must be written, read again, and be written the same.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view json(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto check = [](auto parse, std::string_view text) {
    const auto first = parse(text);
    if (!first.ok()) return;
    const std::string written = ToJson(*first);
    const auto second = parse(written);
    STROM_ASSERT(second.ok(), "{} of {}", second.ToString(), written);
    STROM_ASSERT(ToJson(*second) == written, "{} became {}", written, ToJson(*second));
  };
  switch (data[0] % 4) {
    case 0:
      check(ParseDataTypeJson, json);
      break;
    case 1:
      check(ParseSchemaJson, json);
      if (const auto schema = ParseSchemaJson(json); schema.ok() && !schema->columns.empty()) {
        const Column& column = schema->columns.back();
        (void)schema->FindColumnById(column.id);
        (void)AddColumns(*schema, std::vector<AddColumn>{{column.name + "2", column.type, column.comment, 0, {}}}).ok();
      }
      break;
    case 2:
      check(ParseDatabaseDescriptorJson, json);
      break;
    default:
      check(ParseTableDescriptorJson, json);
      if (auto table = ParseTableDescriptorJson(json); table.ok())
        (void)PrepareNewTable(std::move(*table), CreateDefaults{}).ok();
  }
  return 0;
}
