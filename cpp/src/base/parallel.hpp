// Jobs that run on a team of threads.
//
// run_jobs(count, cost, f) calls f(jobs, 0), f(jobs, 1), ... f(jobs, count - 1). Jobs start in ascending order, so that a job
// may wait for any job with a lower number without a deadlock: some thread has already begun that job. The library needs no
// other scheduling: no graph of tasks is built, and a job whose inputs are ready pays one atomic load for each.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "base/bell.hpp"
#include "kernsel/status.hpp"

namespace kernsel {

class Jobs {
 public:
  // Ends all jobs soon. If it is called several times, the first status is the result of run_jobs.
  void stop(const Status& status);
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

  // Stores `value`, which tells waiting jobs that a part of the work is done.
  void publish(std::atomic<Index>& counter, Index value) {
    counter.store(value);
    progress_.ring();
  }

  // Waits until a job has published counter >= value. Returns false if the jobs were stopped meanwhile.
  bool wait(const std::atomic<Index>& counter, Index value) {
    return counter.load(std::memory_order_acquire) >= value || wait_slowly(counter, value);
  }

  // Long jobs should call this from time to time; it is called once before each job. On the thread that called run_jobs, it
  // asks the interrupt check, at most every 50 ms. Returns false if the jobs were stopped.
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

// Asks the interrupt check, between two calls of run_jobs: true if the computation should end.
bool asked_to_stop();

// For a loop of calls of run_jobs, each of which may be too short to ask: the check is asked after 50 ms, and then again.
class Watch {
 public:
  Status poll();  // Code::interrupted if the computation should end

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// As long as it exists, computations that this thread starts end with Code::interrupted once the time has come, as if the
// interrupt check had said so. They are asked at most every 50 ms.
class Deadline {
 public:
  using Time = std::chrono::steady_clock::time_point;
  explicit Deadline(Time time);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  Time before_;
};

// For tests: use several threads for every run_jobs of several jobs, however small the work.
void use_a_team_for_any_work(bool wish);

// Runs f(jobs, job) for all jobs. `cost` is the approximate time in nanoseconds that they take on one thread; small work stays
// on the calling thread.
template <class F>
Status run_jobs(Index count, double cost, const F& f) {
  return run_jobs_erased(
      count, cost, [](const void* context, Jobs& jobs, Index job) { (*static_cast<const F*>(context))(jobs, job); }, &f);
}

}  // namespace kernsel
