// Jobs on a team of threads.
//
// run_jobs(count, cost, f) calls f(0), f(1), ... f(count - 1). Jobs start in ascending order, so that a job may wait for any
// job with a lower number: whoever runs that one has already begun it. This is all the scheduling the library needs: no task
// graph is ever built, and a job that finds its inputs ready pays one atomic load for them.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "base/bell.hpp"
#include "kernsel/status.hpp"

namespace kernsel {

class Jobs {
 public:
  // Ends all jobs soon; the first status given is the one that counts.
  void stop(const Status& status);
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

  // Tells those who wait that something is done.
  void publish(std::atomic<Index>& counter, Index value) {
    counter.store(value);
    progress_.ring();
  }

  // Waits until a job has published counter >= value. False if the jobs were stopped meanwhile.
  bool wait(const std::atomic<Index>& counter, Index value) {
    return counter.load(std::memory_order_acquire) >= value || wait_slowly(counter, value);
  }

  // To be called now and then (a job does it by itself once): looks for an interrupt, at most every 50 ms, on the thread that
  // called run_jobs. False if the jobs were stopped.
  bool poll();

 private:
  friend Status run_jobs_erased(Index, double, void (*)(const void*, Jobs&, Index), const void*);
  bool wait_slowly(const std::atomic<Index>& counter, Index value);
  void work(Index count, void (*f)(const void*, Jobs&, Index), const void* context);

  std::atomic<Index> next_{0};
  std::atomic<bool> stopped_{false};
  std::atomic<bool> claimed_{false};
  Bell progress_;
  Status status_;
  std::thread::id caller_ = std::this_thread::get_id();
  std::chrono::steady_clock::time_point next_check_;
};

Status run_jobs_erased(Index count, double cost, void (*f)(const void*, Jobs&, Index), const void* context);

// Asks the interrupt check, between computations: true if it wants them to end.
bool asked_to_stop();

// For tests: a team for every run_jobs of several jobs, however small the work.
void use_a_team_for_any_work(bool wish);

// `cost` is roughly the time in nanoseconds that all jobs take on one thread: small work stays on the calling thread.
template <class F>
Status run_jobs(Index count, double cost, const F& f) {
  return run_jobs_erased(
      count, cost, [](const void* context, Jobs& jobs, Index job) { (*static_cast<const F*>(context))(jobs, job); }, &f);
}

}  // namespace kernsel
