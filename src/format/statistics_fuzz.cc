#include "format/statistics.h"

// Parses the bytes as a statistics block and reads every entry as every type.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strom::format;
  using strom::model::DataType;
  using strom::model::TypeRoot;
  const auto statistics = BatchStatistics::Parse({data, size});
  if (!statistics.ok()) return 0;
  static const DataType types[] = {DataType::Of(TypeRoot::kBoolean), DataType::Of(TypeRoot::kBigInt), DataType::Of(TypeRoot::kDouble),
                                   DataType::Of(TypeRoot::kString), DataType::Decimal(10, 2), DataType::Decimal(38, 2),
                                   DataType::Timestamp(3), DataType::Timestamp(9)};
  for (size_t i = 0; i < statistics->column_count(); ++i) {
    (void)statistics->Find(static_cast<size_t>(i));
    for (const DataType& type : types) {
      FieldView min, max;
      if (!statistics->Min(i, type, &min).ok() || !statistics->Max(i, type, &max).ok() || min.is_null || max.is_null) continue;
      (void)CompareFields(type, min, max).ok();
    }
  }
  return 0;
}
