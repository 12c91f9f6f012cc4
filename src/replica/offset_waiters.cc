#include "replica/offset_waiters.h"

namespace strom::replica {

void OffsetWaiters::Advance(LogOffset offset) {
  if (offset <= current_) return;
  current_ = offset;
  while (!waiters_.empty() && waiters_.begin()->first <= offset) {
    Waiter* waiter = waiters_.begin()->second;
    waiters_.erase(waiters_.begin());
    waiter->done = true;
    waiter->event.NotifyAll();
  }
}

rt::Task<Status> OffsetWaiters::WaitFor(LogOffset target, rt::MonotonicTime deadline) {
  if (target <= current_) co_return Status::OK();
  Waiter waiter;
  const auto place = waiters_.emplace(target, &waiter);
  const bool woken = co_await waiter.event.Wait(deadline);
  if (waiter.done) co_return waiter.status;
  waiters_.erase(place);
  STROM_ASSERT(!woken, "a waiter for offset {} was woken without a reason", target);
  co_return MakeError(ErrorCode::kDeadlineExceeded, "offset {} was not reached in time, the bucket stands at {}", target,
                      current_);
}

void OffsetWaiters::FailAll(const Error& error) {
  auto waiters = std::exchange(waiters_, {});
  for (auto& [target, waiter] : waiters) {
    waiter->done = true;
    waiter->status = error;
    waiter->event.NotifyAll();
  }
}

}  // namespace strom::replica
