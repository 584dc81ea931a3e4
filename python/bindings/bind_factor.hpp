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
  // Returns the mutex; to be called with the GIL held. Raises if this thread is already computing with the factor, which
  // happens if a signal handler interrupts the computation and would then wait for itself. In a child of fork(), a mutex that
  // another thread of the parent may have held is replaced.
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
  std::unique_ptr<std::shared_mutex> mutex_ = std::make_unique<std::shared_mutex>();
  long born_ = forks.load();
};

// A Cholesky factor that Python owns.
template <class T>
struct Factor {
  kernsel::LowerTiles<T> tiles;
  mutable FactorLock lock;
};
