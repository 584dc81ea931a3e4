// Waiting for a condition that another thread is about to make true: first by looking at it in a busy loop for a moment, then
// asleep until that thread rings the bell.
//
// The busy loop is always bounded: the other thread may have lost its processor for a time slice of some milliseconds, to
// another process or to the very thread that spins.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <thread>
#endif

namespace kernsel {

class Bell {
 public:
  // The usual length of the busy loop: longer than waking a thread takes, much shorter than a time slice.
  static constexpr auto usual_spinning = std::chrono::microseconds(50);

  // Waits until done() is true, for `patience` at most; returns the last value of done(). The data that done() reads must be
  // written by sequentially consistent operations, each followed by ring(). Then either the writer sees that a thread sleeps,
  // or that thread sees the new data before it falls asleep.
  template <class Done>
  bool wait(const Done& done, std::chrono::microseconds patience, std::chrono::microseconds spinning = usual_spinning) {
    const auto start = std::chrono::steady_clock::now();
    do {
      for (int look = 0; look < 16; ++look) {
        if (done()) return true;
        relax();
      }
    } while (std::chrono::steady_clock::now() - start < spinning);
    std::unique_lock<std::mutex> lock(mutex_);
    sleepers_.fetch_add(1);
    const bool holds = rung_.wait_until(lock, start + patience, done);
    sleepers_.fetch_sub(1);
    return holds;
  }

  // Wakes up to `sleepers` sleeping threads. Costs one atomic load if none sleeps.
  void ring(int sleepers = all) {
    const int asleep = sleepers_.load();
    if (asleep == 0) return;
    { const std::lock_guard<std::mutex> lock(mutex_); }  // a waiting thread has either seen the new data or is asleep by now
    if (sleepers >= asleep) return rung_.notify_all();
    for (int woken = 0; woken < sleepers; ++woken) rung_.notify_one();
  }
  static constexpr int all = 1 << 30;

 private:
  static void relax() {
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__) && defined(__GNUC__)
    __asm__ __volatile__("yield");
#else
    std::this_thread::yield();
#endif
  }

  std::atomic<int> sleepers_{0};
  std::mutex mutex_;
  std::condition_variable rung_;
};

}  // namespace kernsel
