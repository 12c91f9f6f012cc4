#include "rpc/field_writer.h"

namespace strom::rpc {

rt::Pieces BackwardWriter::Finish() {
  STROM_ASSERT(at_ == buffer_.data(), "{} bytes of the message are not written", at_ - buffer_.data());
  const Buffer memory = buffer_.Freeze();
  rt::Pieces result;
  size_t from = 0;
  for (size_t i = cuts_.size(); i-- > 0;) {
    const Cut& cut = cuts_[i];
    result.Add(memory.Slice(from, cut.position - from));
    from = cut.position;
    for (const rt::Pieces::Piece& piece : cut.pieces->pieces()) {
      std::visit([&result](const auto& each) { result.Add(each); }, piece);
    }
  }
  result.Add(memory.Slice(from, memory.size() - from));
  return result;
}

}  // namespace strom::rpc
