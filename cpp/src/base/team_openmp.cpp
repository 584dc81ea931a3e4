// The team of OpenMP, for an application that runs all its parallel work in OpenMP and has the machine to itself.
#include "base/team.hpp"
#include "kernsel/runtime.hpp"

namespace kernsel {

namespace {

thread_local bool at_work = false;

}  // namespace

const char* threading() { return "openmp"; }
bool team_exists() { return true; }

void run_on_team(int threads, Task task, Task) {
  if (at_work) return task.run(task.context);
#pragma omp parallel num_threads(threads)
  {
    at_work = true;
    task.run(task.context);
    at_work = false;
  }
}

bool comes_to_help() { return false; }
bool crowded() { return false; }

Readiness team_readiness() {
  return at_work || is_forked_child() || application_is_parallel() ? Readiness::none : Readiness::awake;
}

void use_a_team_on_a_busy_machine(bool) {}

}  // namespace kernsel
