#include "format/arrow_projection_read.h"
#include "format/projection_harness.h"

// Parses the bytes as Arrow metadata, and as a slice of batches that are projected and filtered.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strom;
  using namespace strom::format;
  (void)ParseArrowMetadata({data, size}).ok();
  static const auto schema = [] {
    auto made = std::make_shared<model::Schema>();
    for (const model::TypeRoot root : {model::TypeRoot::kInteger, model::TypeRoot::kString, model::TypeRoot::kDouble}) {
      model::Column column;
      column.type = model::DataType::Of(root);
      column.id = static_cast<int32_t>(made->columns.size());
      made->columns.push_back(column);
    }
    return made;
  }();
  // Batches of other schema ids are those of a table that lacked the last column.
  static const auto older = [] {
    auto made = std::make_shared<model::Schema>(*schema);
    made->columns.pop_back();
    return made;
  }();
  const SchemaLookup schemas = [](SchemaId id) { return id == SchemaId(1) ? schema : older; };
  Predicate predicate;
  predicate.function = PredicateFunction::kLess;
  predicate.column_id = 0;
  predicate.literals.push_back(Value::Integer(5));
  static const std::vector<int32_t> positions = {0, 2};
  ProjectionCache cache;
  BatchFilter filter(predicate, schemas);
  ProjectSliceRequest request;
  request.file = std::make_shared<const MemoryFile>(Buffer::CopyOf(ByteView(data, size)));
  request.size = size;
  request.table_schema = SchemaId(1);
  request.positions = positions;
  request.filter = &filter;
  request.max_bytes = 1 << 20;
  const auto read = ProjectSlice(request, schemas, &cache);
  if (read.ok()) STROM_ASSERT(rt::Flatten(read->records).ok(), "a range lies outside of the slice");
  return 0;
}
