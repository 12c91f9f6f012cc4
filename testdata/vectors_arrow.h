#pragma once

#include <string>

#include "format/log_batch.h"
#include "format/log_batch_builder.h"
#include "vector.h"

namespace strom::vectors {

/// What a maker of the batch of that header would have said.
format::LogBatchSpec SpecFrom(const format::LogBatchHeader& header);

/// The rows and statistics of an ARROW `log_batch`: decoded, written anew and decoded again.
void CheckArrowBatch(const Vector& vector, const format::LogBatchHeader& header, const std::string& bytes);

}  // namespace strom::vectors
