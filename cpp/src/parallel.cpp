#include "parallel.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <new>
#include <thread>

#include "kernsel/runtime.hpp"
#include "memory.hpp"

namespace kernsel {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;

std::atomic<InterruptCheck> interrupt_check{nullptr};
std::atomic<int> thread_limit{0};
std::atomic<bool> forked{false};
std::atomic<bool> team_for_any_work{false};
std::atomic<Clock::rep> last_work{0};  // when jobs worth a team last ended

// Below `warm` a team costs more than it brings. A team that has slept must be woken first, at some 100 microseconds.
constexpr double warm_cost = 4e4;
constexpr double cold_cost = 3e5;
constexpr auto team_sleeps_after = milliseconds(1);

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#else
  std::this_thread::yield();
#endif
}

int team_size(Index count, double cost) {
  const bool eager = team_for_any_work.load(std::memory_order_relaxed);
  if (count < 2 || (cost < warm_cost && !eager)) return 1;
  const int threads = static_cast<int>(std::min<Index>(num_threads(), count));
  if (threads < 2 || cost >= cold_cost || eager) return threads;
  // In a series of calls, the first one that finds the team asleep wakes it for the others.
  const auto idle = Clock::now().time_since_epoch() - Clock::duration(last_work.load(std::memory_order_relaxed));
  return idle < team_sleeps_after ? threads : 1;
}

void note_work() { last_work.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed); }

#if defined(__unix__) || defined(__APPLE__)
// The threads of an OpenMP team do not survive fork(); entering a region in the child would wait for them forever.
[[maybe_unused]] const int fork_handler = pthread_atfork(nullptr, nullptr, [] { forked.store(true); });
#endif

}  // namespace

void use_a_team_for_any_work(bool wish) { team_for_any_work.store(wish); }

void set_interrupt_check(InterruptCheck check) { interrupt_check.store(check); }

int num_threads() {
#ifdef _OPENMP
  if (forked.load(std::memory_order_relaxed)) return 1;
  const int limit = thread_limit.load(std::memory_order_relaxed);
  const int available = omp_get_max_threads();
  return limit > 0 ? std::min(limit, available) : available;
#else
  return 1;
#endif
}

void set_num_threads(int count) {
  thread_limit.store(std::max(count, 1));
#ifdef _OPENMP
  if (!forked.load()) omp_set_num_threads(std::max(count, 1));
#endif
}

const char* openmp_version() {
#ifdef _OPENMP
#define KERNSEL_TEXT(x) #x
#define KERNSEL_TEXT_OF(x) KERNSEL_TEXT(x)
  return KERNSEL_TEXT_OF(_OPENMP);
#else
  return "";
#endif
}

void Jobs::stop(const Status& status) {
  if (!claimed_.exchange(true)) status_ = status;
  stopped_.store(true, std::memory_order_release);
}

bool Jobs::wait_slowly(const std::atomic<Index>& counter, Index value) {
  for (unsigned turn = 0; counter.load(std::memory_order_acquire) < value; ++turn) {
    if (stopped()) return false;
    if (turn < 2000) {
      relax();
    } else {
      std::this_thread::yield();
      if (turn % 64 == 0) poll();
    }
  }
  return true;
}

bool Jobs::poll() {
  if (stopped()) return false;
#ifdef _OPENMP
  if (omp_get_thread_num() != 0) return true;
#endif
  const InterruptCheck check = interrupt_check.load(std::memory_order_relaxed);
  if (!check || Clock::now() < next_check_) return true;
  const ScratchAside aside;  // the check may run anything, computations of ours included
  const bool interrupted = check();
  next_check_ = Clock::now() + milliseconds(50);
  if (!interrupted) return true;
  Status status;
  status.code = Code::interrupted;
  stop(status);
  return false;
}

bool asked_to_stop() {
  const InterruptCheck check = interrupt_check.load(std::memory_order_relaxed);
  if (!check) return false;
  const ScratchAside aside;
  return check();
}

void Jobs::work(Index count, void (*f)(const void*, Jobs&, Index), const void* context) {
  for (;;) {
    const Index job = next_.fetch_add(1, std::memory_order_relaxed);
    if (job >= count || !poll()) return;
    try {
      f(context, *this, job);
    } catch (const std::bad_alloc&) {  // must not leave the team
      stop(no_memory());
    }
  }
}

Status run_jobs_erased(Index count, double cost, void (*f)(const void*, Jobs&, Index), const void* context) {
  Jobs jobs;
  jobs.next_check_ = Clock::now() + milliseconds(50);
  const int threads = team_size(count, cost);
  if (threads < 2) {
    jobs.work(count, f, context);
    if (cost >= warm_cost) note_work();
    return jobs.status_;
  }
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
  {
    jobs.arrived_.fetch_add(1, std::memory_order_relaxed);
    if (omp_get_thread_num() == 0) {
      // A worker that wakes up on this thread's CPU would wait for a time slice while we work, and we would then wait for it at
      // the end of the region. If the team is not here soon, sleep for a moment: the scheduler spreads it.
      const auto patience = Clock::now() + microseconds(20);
      while (jobs.arrived_.load(std::memory_order_relaxed) < threads && Clock::now() < patience) relax();
      if (jobs.arrived_.load(std::memory_order_relaxed) < threads) std::this_thread::sleep_for(microseconds(1));
    }
    jobs.work(count, f, context);
  }
  note_work();
#endif
  return jobs.status_;
}

}  // namespace kernsel
