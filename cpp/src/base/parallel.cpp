#include "base/parallel.hpp"

#include <algorithm>
#include <new>

#include "base/memory.hpp"
#include "base/team.hpp"
#include "kernsel/runtime.hpp"

namespace kernsel {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

std::atomic<InterruptCheck> interrupt_check{nullptr};
thread_local Clock::time_point deadline = Clock::time_point::max();
std::atomic<bool> team_for_any_work{false};

constexpr auto time_between_checks = milliseconds(50);

// Costs of work in nanoseconds. Below `worth_a_team`, several threads cost more time than they save, even if they are awake;
// waking them takes some 50 microseconds. From `lasting` on, threads that become free while the work runs may still join.
constexpr double worth_a_team = 4e4, worth_waking_a_team = 3e5, lasting = 2e7;

// Returns the number of threads that should work, including the caller.
int team_size(Index count, double cost) {
  const bool eager = team_for_any_work.load(std::memory_order_relaxed);
  if (count < 2 || (cost < worth_a_team && !eager)) return 1;
  const int threads = static_cast<int>(std::min<Index>(num_threads(), count));
  if (threads < 2) return 1;
  const Readiness readiness = team_readiness();
  if (readiness == Readiness::none) return 1;
  return readiness == Readiness::awake || cost >= worth_waking_a_team || eager ? threads : 1;
}

}  // namespace

void use_a_team_for_any_work(bool wish) {
  team_for_any_work.store(wish);
  use_a_team_on_a_busy_machine(wish);
}

Deadline::Deadline(Time time) : before_(deadline) { deadline = std::min(deadline, time); }
Deadline::~Deadline() { deadline = before_; }

void set_interrupt_check(InterruptCheck check) { interrupt_check.store(check); }

void Jobs::stop(const Status& status) {
  if (!claimed_.exchange(true)) status_ = status;
  stopped_.store(true);
  progress_.ring();
}

bool Jobs::wait_slowly(const std::atomic<Index>& counter, Index value) {
  const auto done = [&] { return stopped_.load() || counter.load() >= value; };
  while (!progress_.wait(done, time_between_checks)) poll();
  return !stopped();
}

bool Jobs::poll() {
  if (stopped()) return false;
  if (std::this_thread::get_id() != caller_) return true;
  const Clock::time_point now = Clock::now();
  if (now < next_check_) return true;
  const bool interrupted = now >= deadline || asked_to_stop();
  next_check_ = Clock::now() + time_between_checks;
  if (!interrupted) return true;
  Status status;
  status.code = Code::interrupted;
  stop(status);
  return false;
}

bool asked_to_stop() {
  const InterruptCheck check = interrupt_check.load(std::memory_order_relaxed);
  if (!check) return Clock::now() >= deadline;
  const ScratchAside aside;  // the check may run any code, including computations of this library
  return check() || Clock::now() >= deadline;
}

Status Watch::poll() {
  Status status;
  if (Clock::now() < last_ + time_between_checks) return status;
  if (asked_to_stop()) status.code = Code::interrupted;
  last_ = Clock::now();
  return status;
}

void Jobs::work(Index count, void (*f)(const void*, Jobs&, Index), const void* context) {
  const bool helping = comes_to_help();
  while (!(helping && crowded())) {
    const Index job = next_.fetch_add(1, std::memory_order_relaxed);
    if (job >= count || !poll()) return;
    try {
      f(context, *this, job);
    } catch (const std::bad_alloc&) {  // an exception that leaves a thread ends the process
      stop(no_memory());
    }
  }
}

Status run_jobs_erased(Index count, double cost, void (*f)(const void*, Jobs&, Index), const void* context) {
  Jobs jobs;
  jobs.next_check_ = Clock::now() + time_between_checks;
  const int threads = team_size(count, cost);
  if (threads < 2 && cost < worth_a_team) {
    jobs.work(count, f, context);
    return jobs.status_;
  }
  struct Work {
    Jobs& jobs;
    Index count;
    void (*f)(const void*, Jobs&, Index);
    const void* context;
  } work{jobs, count, f, context};
  const auto run = [](void* self) {
    const Work& all = *static_cast<Work*>(self);
    all.jobs.work(all.count, all.f, all.context);
  };
  const auto meanwhile = [](void* self) { static_cast<Work*>(self)->jobs.poll(); };
  run_on_team(threads, {run, &work, cost >= lasting}, {meanwhile, &work});
  return jobs.status_;
}

}  // namespace kernsel
