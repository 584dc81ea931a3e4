// The number of threads that computations may use, and the detection of forked children.
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

std::atomic<int> thread_limit{0};  // 0 if no limit was set
std::atomic<bool> forked{false};

#if defined(__unix__) || defined(__APPLE__)
// A child of fork() has only the thread that called fork(): work with a team would wait forever there.
[[maybe_unused]] const int fork_handler = pthread_atfork(nullptr, nullptr, [] { forked.store(true); });
#endif

// Returns the number in OMP_NUM_THREADS, or 0 if there is none. Of a list, which has a number for each level of nesting, it
// takes the first.
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
  // An explicit number takes precedence over the count of processors. The default of OpenMP is the number of processors when
  // OpenMP was loaded, without regard to quotas; usable_processors() respects these.
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
