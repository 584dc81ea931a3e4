// The team: every job runs once, waiting for earlier jobs never deadlocks, and a stop reaches everybody.
#include <atomic>
#include <chrono>
#include <thread>

#include "check.hpp"
#include "kernsel/runtime.hpp"
#include "parallel.hpp"

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
    done.store(job + 1, std::memory_order_release);
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

}  // namespace

int main() {
  for (const int threads : {1, 2, 4}) {
    kernsel::set_num_threads(threads);
    every_job_once();
    chain();
    failure_stops_those_who_wait();
    interrupt();
  }
  return report("jobs");
}
