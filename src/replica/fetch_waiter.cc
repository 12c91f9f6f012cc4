#include "replica/fetch_waiter.h"

namespace strom::replica {

FetchWaiterList::~FetchWaiterList() { NotifyAll(); }

void FetchWaiterList::Insert(Link& link) {
  link.list = this;
  link.next = head_;
  if (head_ != nullptr) head_->previous = &link;
  head_ = &link;
}

void FetchWaiterList::Remove(Link& link) {
  if (link.list != this) return;
  if (link.previous != nullptr) link.previous->next = link.next;
  if (link.next != nullptr) link.next->previous = link.previous;
  if (head_ == &link) head_ = link.next;
  link = Link{link.waiter, nullptr, nullptr, nullptr};
}

void FetchWaiterList::NotifyAll() {
  while (head_ != nullptr) {
    FetchWaiter* waiter = head_->waiter;
    Remove(*head_);
    waiter->Notify();
  }
}

void FetchWaiter::Watch(FetchWaiterList& bucket) {
  links_.push_back({this, nullptr, nullptr, nullptr});
  bucket.Insert(links_.back());
}

rt::Task<bool> FetchWaiter::Wait(rt::MonotonicTime deadline) {
  if (!notified_) {
    co_await event_.Wait(deadline);
  }
  Clear();
  co_return std::exchange(notified_, false);
}

void FetchWaiter::Notify() {
  notified_ = true;
  event_.NotifyAll();
}

void FetchWaiter::Clear() {
  for (FetchWaiterList::Link& link : links_) {
    if (link.list != nullptr) link.list->Remove(link);
  }
  links_.clear();
}

}  // namespace strom::replica
