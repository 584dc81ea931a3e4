// Jobs on a team of threads: every job runs once, waiting for earlier jobs never deadlocks, a stop reaches all threads, and no
// caller waits for a thread that has not begun a job.
#if defined(__unix__)
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/parallel.hpp"
#include "base/processors.hpp"
#include "check.hpp"
#include "kernsel/runtime.hpp"

using kernsel::Code;
using kernsel::Index;
using kernsel::Jobs;
using kernsel::Status;

namespace {

constexpr double worth_a_team = 1e9;

void every_job_once() {
  for (const Index count : {0, 1, 2, 3, 1000}) {
    std::vector<std::atomic<int>> runs(static_cast<std::size_t>(count));
    CHECK(kernsel::run_jobs(count, worth_a_team, [&](Jobs&, Index job) { ++runs[static_cast<std::size_t>(job)]; }).ok());
    for (const auto& times : runs) CHECK(times == 1);
  }
}

void chain() {
  std::atomic<Index> done{0};
  std::atomic<Index> out_of_order{0};
  const auto link = [&](Jobs& jobs, Index job) {
    if (!jobs.wait(done, job)) return;
    if (done.load() != job) ++out_of_order;
    jobs.publish(done, job + 1);
  };
  CHECK(kernsel::run_jobs(2000, worth_a_team, link).ok());
  CHECK(done == 2000);
  CHECK(out_of_order == 0);
}

void failure_stops_those_who_wait() {
  std::atomic<Index> never{0};
  const Status status = kernsel::run_jobs(100, worth_a_team, [&](Jobs& jobs, Index job) {
    if (job == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      Status failure;
      failure.code = Code::not_positive_definite;
      failure.pivot = 7;
      return jobs.stop(failure);
    }
    CHECK(!jobs.wait(never, 1));
  });
  CHECK(status.code == Code::not_positive_definite);
  CHECK(status.pivot == 7);
}

void interrupt() {
  kernsel::set_interrupt_check([] { return true; });
  const auto start = std::chrono::steady_clock::now();
  const Status status =
      kernsel::run_jobs(100000, worth_a_team, [](Jobs&, Index) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
  kernsel::set_interrupt_check(nullptr);
  CHECK(status.code == Code::interrupted);
  CHECK_BELOW(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 5.0);
}

// Jobs that a job runs itself do not use the team: all of them run on the thread of the outer job.
void jobs_within_jobs() {
  std::atomic<int> runs{0};
  const Status status = kernsel::run_jobs(20, worth_a_team, [&](Jobs&, Index) {
    const auto caller = std::this_thread::get_id();
    const Status inner =
        kernsel::run_jobs(10, worth_a_team, [&](Jobs&, Index) { runs += std::this_thread::get_id() == caller; });
    CHECK(inner.ok());
  });
  CHECK(status.ok());
  CHECK(runs == 200);
}

// With more callers than threads, threads of the team leave a caller between two of its jobs. They must not leave inner jobs,
// that an outer job runs, before all of these are done.
void jobs_within_jobs_of_many_callers() {
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&wrong] {
      for (int repeat = 0; repeat < 200; ++repeat) {
        const Status status = kernsel::run_jobs(8, worth_a_team, [&wrong](Jobs&, Index job) {
          for (const double cost : {1e2, worth_a_team}) {  // too little work for a team, and enough
            std::atomic<int> runs{0};
            const Status inner = kernsel::run_jobs(200, cost, [&runs](Jobs&, Index) { ++runs; });
            if (!inner.ok() || runs != 200) ++wrong;
          }
          if (job % 2) std::this_thread::yield();
        });
        if (!status.ok()) ++wrong;
      }
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);
}

// More callers at once than there are threads, or doors (places of the team for the work of a caller), with work of all sizes.
void many_callers() {
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int caller = 0; caller < 24; ++caller)
    callers.emplace_back([&wrong, caller] {
      for (Index count = 1; count < 60; ++count) {
        std::atomic<Index> sum{0}, done{0};
        const double cost = caller % 3 == 0 ? worth_a_team : 5e4;
        const Status status = kernsel::run_jobs(count, cost, [&](Jobs& jobs, Index job) {
          if (job % 4 == 3 && !jobs.wait(done, job)) return;
          sum += job;
          while (done.load() != job) std::this_thread::yield();
          jobs.publish(done, job + 1);
        });
        if (!status.ok() || sum != count * (count - 1) / 2) ++wrong;
      }
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);
}

// A caller that has no more jobs to begin waits for the threads that have begun one of its jobs, and for no others.
void only_those_inside_are_waited_for() {
  std::atomic<bool> slow_one_done{false};
  const auto caller = std::this_thread::get_id();
  std::atomic<int> others{0};
  const Status status = kernsel::run_jobs(50, worth_a_team, [&](Jobs&, Index) {
    if (std::this_thread::get_id() == caller) return std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++others;
    std::this_thread::sleep_for(std::chrono::milliseconds(80));
    slow_one_done = true;
  });
  CHECK(status.ok());
  CHECK(others == 0 || slow_one_done);
}

#if defined(__unix__)
// A job that forks: the child has none of the team's threads, must not wait for them, and continues on one thread.
[[maybe_unused]] void fork_in_a_job() {
  const auto caller = std::this_thread::get_id();
  const pid_t parent = getpid();
  std::atomic<int> failures{0};
  const Status status = kernsel::run_jobs(40, worth_a_team, [&](Jobs&, Index job) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (std::this_thread::get_id() != caller || job > 4 || getpid() != parent) return;
    const pid_t child = fork();
    if (child == 0) return;
    int code = 0;
    waitpid(child, &code, 0);
    if (code != 0) ++failures;
  });
  if (getpid() != parent) {
    std::atomic<int> runs{0};
    const bool good = status.ok() && kernsel::num_threads() == 1 &&
                      kernsel::run_jobs(10, worth_a_team, [&](Jobs&, Index) { ++runs; }).ok() && runs == 10;
    _exit(good ? 0 : 1);
  }
  CHECK(status.ok());
  CHECK(failures == 0);
}

void quotas() {
  namespace fs = std::filesystem;
  const fs::path root = fs::temp_directory_path() / ("kernsel-quota-" + std::to_string(getpid()));
  const auto write = [&](const char* name, const char* text) {
    fs::create_directories((root / name).parent_path());
    std::ofstream(root / name) << text;
  };
  write("cpu.max", "max 100000\n");
  write("a/cpu.max", "250000 100000\n");
  write("a/b/cpu.max", "max 100000\n");
  write("old/cpu.cfs_quota_us", "50000\n");
  write("old/cpu.cfs_period_us", "100000\n");
  write("old/none/cpu.cfs_quota_us", "-1\n");
  write("old/none/cpu.cfs_period_us", "100000\n");
  write("bad/cpu.max", "many\n");
  const auto quota = [&](const char* group) { return kernsel::smallest_quota(root.string(), group); };
#if defined(__linux__)
  CHECK(quota("/a") == 2.5);
  CHECK(quota("/a/b") == 2.5);
  CHECK(quota("/old") == 0.5);
  CHECK(quota("/old/none") == 0.5);
#endif
  CHECK(quota("") == 0.0);
  CHECK(quota("/bad") == 0.0);
  CHECK(quota("/not/there") == 0.0);
  CHECK(kernsel::usable_processors() >= 1);
  fs::remove_all(root);
}
#endif

}  // namespace

int main() {
  for (const bool eager : {false, true}) {
    kernsel::use_a_team_for_any_work(eager);
    for (const int threads : {1, 2, 4}) {
      kernsel::set_num_threads(threads);
      every_job_once();
      chain();
      failure_stops_those_who_wait();
      interrupt();
      jobs_within_jobs();
      jobs_within_jobs_of_many_callers();
      many_callers();
      only_those_inside_are_waited_for();
    }
  }
#if defined(__unix__)
  quotas();
#if !defined(ON_OPENMP)  // whose parallel regions wait for all threads, which a child does not have
  fork_in_a_job();
#endif
#endif
  return report("jobs");
}
