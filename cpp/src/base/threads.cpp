// How many threads there may be, and what a fork leaves of them.
#ifdef _OPENMP
#include <omp.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "base/processors.hpp"
#include "base/team.hpp"
#include "kernsel/runtime.hpp"

namespace kernsel {

namespace {

std::atomic<int> thread_limit{0};  // 0: none was set
std::atomic<bool> forked{false};

#if defined(__unix__) || defined(__APPLE__)
// A child of fork() has the thread that called it and no other: entering a team there would wait for ever.
[[maybe_unused]] const int fork_handler = pthread_atfork(nullptr, nullptr, [] { forked.store(true); });
#endif

// What OMP_NUM_THREADS says, 0 if nothing; of a list, one number for each level of nesting, the first.
int asked_for_by_environment() {
  static const int number = [] {
    const char* text = std::getenv("OMP_NUM_THREADS");
    const long value = text ? std::strtol(text, nullptr, 10) : 0;
    return static_cast<int>(std::clamp<long>(value, 0, 1 << 16));
  }();
  return number;
}

}  // namespace

int num_threads() {
  if (!team_exists() || is_forked_child()) return 1;
  const int limit = thread_limit.load(std::memory_order_relaxed), asked = asked_for_by_environment();
#ifdef _OPENMP
  const int available = omp_get_max_threads();
#else
  const int available = limit > 0 ? limit : asked > 0 ? asked : usable_processors();
#endif
  // Who names a number gets it. OpenMP's default counts the processors when it is loaded, and knows no quotas.
  return limit > 0 ? std::min(limit, available) : asked > 0 ? available : std::min(available, usable_processors());
}

bool is_forked_child() { return forked.load(std::memory_order_relaxed); }

bool application_is_parallel() {
#ifdef _OPENMP
  return omp_in_parallel() != 0;
#else
  return false;
#endif
}

void set_num_threads(int count) {
  thread_limit.store(std::max(count, 1));
#ifdef _OPENMP
  if (!is_forked_child()) omp_set_num_threads(std::max(count, 1));
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

}  // namespace kernsel
