#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <memory>
#include <shared_mutex>
#include <vector>

#include "kernsel/cholesky.hpp"

// The lock of a factor: its methods run without the GIL, so that the lock must keep reading and changing it apart.
class FactorLock {
 public:
  FactorLock() = default;
  ~FactorLock() { delete current_.load(); }
  FactorLock(const FactorLock&) = delete;
  FactorLock& operator=(const FactorLock&) = delete;

  // Returns the mutex. Raises if this thread is already computing with the factor, which happens if a signal handler
  // interrupts the computation and would then wait for itself. In a child of fork(), a mutex that another thread of the parent
  // may have held is replaced, once, also where several threads ask at the same time, as without the GIL they may.
  std::shared_mutex& get();

  // Registers that the calling thread uses the factor, for the check in get().
  class Use {
   public:
    explicit Use(const FactorLock* lock) { in_use().push_back(lock); }
    ~Use() { in_use().pop_back(); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
  };

  static std::atomic<long> forks;  // the number of forks between the first process and this one

 private:
  static std::vector<const FactorLock*>& in_use();
  struct Mutex {
    std::shared_mutex mutex;
    long born = forks.load();
  };
  std::atomic<Mutex*> current_{new Mutex};  // one that is replaced is not deleted: a locked mutex must not be destroyed
};

// A Cholesky factor that Python owns.
template <class T>
struct Factor {
  kernsel::LowerTiles<T> tiles;
  mutable FactorLock lock;
};
