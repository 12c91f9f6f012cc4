#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "rt/sync.h"
#include "rt/task.h"

namespace strom::tablet {

namespace internal {
template <typename T>
struct FanOutState {
  std::vector<std::optional<T>> results;
  size_t running = 0;
  rt::Event done;
};

template <typename T>
rt::Task<void> RunOne(rt::Task<T> task, FanOutState<T>* state, size_t index) {
  T value = co_await std::move(task);
  state->results[index].emplace(std::move(value));
  if (--state->running == 0) state->done.NotifyAll();
}
}  // namespace internal

/// Starts all tasks now, in order, each up to its first suspension, and gives back their results in the same order when the last is
/// done. So messages to other shards leave in the order of the tasks before this suspends.
template <typename T>
rt::Task<std::vector<T>> FanOut(std::vector<rt::Task<T>> tasks) {
  internal::FanOutState<T> state;
  state.results.resize(tasks.size());
  state.running = tasks.size();
  for (size_t i = 0; i < tasks.size(); ++i) {
    rt::Spawn(internal::RunOne<T>(std::move(tasks[i]), &state, i));
  }
  while (state.running > 0) {
    co_await state.done.Wait();
  }
  std::vector<T> results;
  results.reserve(state.results.size());
  for (std::optional<T>& result : state.results) results.push_back(std::move(*result));
  co_return results;
}

}  // namespace strom::tablet
