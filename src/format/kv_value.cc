#include "format/kv_value.h"

#include "base/endian.h"

namespace strom::format {

namespace {
constexpr size_t kTagSize = 8;
constexpr size_t kSchemaIdSize = 2;
}  // namespace

Result<KvValueView> DecodeKvValue(KvValueLayout layout, ByteView value) {
  const size_t tag_size = layout == KvValueLayout::kTagged ? kTagSize : 0;
  if (value.size() < tag_size + kSchemaIdSize) {
    return MakeError(ErrorCode::kCorruptData, "kv value of {} bytes is shorter than its head of {}", value.size(), tag_size + kSchemaIdSize);
  }
  KvValueView view;
  if (tag_size > 0) view.tag = LoadBe<int64_t>(value.data());
  view.body = value.subspan(tag_size);
  view.schema_id = LoadLe<int16_t>(view.body.data());
  view.row = view.body.subspan(kSchemaIdSize);
  return view;
}

void AppendKvValue(int16_t schema_id, ByteView row, MutableBuffer* out) {
  StoreLe(out->Extend(kSchemaIdSize), schema_id);
  out->Append(row);
}

void AppendTaggedKvValue(int64_t tag, int16_t schema_id, ByteView row, MutableBuffer* out) {
  StoreBe(out->Extend(kTagSize), tag);
  AppendKvValue(schema_id, row, out);
}

}  // namespace strom::format
