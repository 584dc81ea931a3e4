#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <memory>
#include <shared_mutex>
#include <vector>

#include "kernsel/cholesky.hpp"

// Methods of a factor run without the GIL, so reading and changing it are kept apart by a lock of its own.
class FactorLock {
 public:
  // To be called with the GIL held. Raises if this thread is in the middle of a computation with the same factor: a signal
  // handler that interrupts it would wait for itself. In a child of fork(), a lock that another thread of the parent held is
  // replaced.
  std::shared_mutex& get();

  // Held by the calling thread, for get() to see.
  class Use {
   public:
    explicit Use(const FactorLock* lock) { in_use().push_back(lock); }
    ~Use() { in_use().pop_back(); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
  };

  static std::atomic<long> forks;  // of the process, back to its start

 private:
  static std::vector<const FactorLock*>& in_use();
  std::unique_ptr<std::shared_mutex> mutex_ = std::make_unique<std::shared_mutex>();
  long born_ = forks.load();
};

// A Cholesky factor that Python owns.
template <class T>
struct Factor {
  kernsel::LowerTiles<T> tiles;
  mutable FactorLock lock;
};
