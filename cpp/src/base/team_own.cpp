// A team of threads that the library starts itself.
#if defined(__unix__) || defined(__APPLE__)
#include <signal.h>
#endif
#if defined(__linux__)
#include <sys/resource.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "base/bell.hpp"
#include "base/team.hpp"
#include "kernsel/runtime.hpp"

namespace kernsel {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;

std::atomic<bool> team_whatever_happens{false};
thread_local bool at_work = false;

// Returns how often the calling thread has lost its processor although it could have gone on; 0 where the system does not tell.
long times_preempted() {
#if defined(__linux__)
  rusage usage;
  if (getrusage(RUSAGE_THREAD, &usage) == 0) return usage.ru_nivcsw;
#endif
  return 0;
}

// A door to the work of one caller, through which members of the team enter.
struct Door {
  // Bits of `state`: whether the door is open (bit 31), how many members may still enter (bits 16 to 30), and how many are
  // inside (bits 0 to 15).
  static constexpr std::uint32_t open_bit = 1U << 31, seat = 1U << 16, inside = 1, all_inside = seat - 1,
                                 all_seats = open_bit - seat;

  std::atomic<bool> taken{false};  // whether a caller uses this door
  std::atomic<std::uint32_t> state{0};
  std::atomic<int> threads{0};     // the limit of working threads in this process, as the caller has it
  std::atomic<int> entered{0};     // how many members have entered since it was opened
  std::atomic<long> preempted{0};  // how often these members lost their processor
  Task task{};
  Bell left;

  // One atomic step takes a seat and counts the member as inside, so that the caller knows of every member inside.
  bool enter() {
    std::uint32_t now = state.load();
    while ((now & open_bit) && (now & all_seats))
      if (state.compare_exchange_weak(now, now - seat + inside)) return true;
    return false;
  }
  void leave() {
    std::uint32_t now = state.load();
    while (!state.compare_exchange_weak(now, (now & open_bit) ? now + seat - inside : now - inside)) {
    }
    if (now == inside) left.ring();  // the door was closed, and this was the last member inside
  }
};

class Team {
 public:
  // Never destroyed, since members sleep in it when the process ends.
  static Team& get() {
    alignas(Team) static unsigned char room[sizeof(Team)];
    static Team* const team = new (room) Team;
    return *team;
  }

  Door* open(int wanted, Task task) {
    const int threads = std::min(wanted, most_threads);
    const int vacancies = threads - working_.load();
    if ((vacancies <= 0 && !task.lasting) || !start_members(threads - 1)) return nullptr;
    for (Door& door : doors_) {
      if (door.taken.load() || door.taken.exchange(true)) continue;
      door.task = task;
      door.threads.store(threads);
      door.entered.store(0);
      door.preempted.store(0);
      open_doors_.fetch_add(1);
      door.state.store(Door::open_bit + static_cast<std::uint32_t>(threads - 1) * Door::seat);
      if (vacancies > 0) idle_.ring(vacancies);
      return &door;
    }
    return nullptr;
  }

  void close(Door& door, Task meanwhile, Clock::time_point opened) {
    door.state.fetch_and(Door::all_inside);
    open_doors_.fetch_sub(1);
    const auto empty = [&] { return door.state.load() == 0; };
    // If a job called fork(), the members that were inside do not exist in the child, and waiting for them would not end.
    while (!is_forked_child() && !door.left.wait(empty, milliseconds(50))) meanwhile.run(meanwhile.context);
    const Clock::duration duration = Clock::now() - opened;
    const bool held_up = door.preempted.load() * time_slice > duration / 4;  // a quarter of the time was lost
    note(duration, held_up || (door.entered.load() == 0 && duration > late));
    door.taken.store(false);
  }

  void begin_work() { working_.fetch_add(1); }
  void end_work() {
    working_.fetch_sub(1);
    awake_until_.store((Clock::now() + series).time_since_epoch().count());
    if (open_doors_.load() > 0) idle_.ring(1);  // another caller may have room for one more thread now
  }
  bool crowded() const { return working_.load() > allowed_.load(); }

  Readiness readiness() const {
    const Clock::rep now = Clock::now().time_since_epoch().count();
    if (now < rest_until_.load()) return Readiness::none;
    return now < awake_until_.load() ? Readiness::awake : Readiness::asleep;
  }

 private:
  static constexpr int most_threads = 1024;  // an upper limit to every request

  // After a member has lost its processor, callers work alone for a while, which is longer each time that it happens again.
  // Such a member delays its caller by up to one time slice of some milliseconds; so much it costs to find out whether the
  // machine is still busy.
  static constexpr Clock::duration time_slice = milliseconds(4), shortest_rest = time_slice, longest_rest = milliseconds(128);
  // Members stay awake for this time after work: in a series of calls that follow each other as closely, only the first call
  // has to wake them.
  static constexpr auto series = microseconds(200);
  // A member that is woken enters sooner than that, unless no processor is free for it.
  static constexpr Clock::duration late = microseconds(500);

  // Adapts the rest after work of this duration. `disturbed` tells whether members were preempted for much of the time, or none
  // got a processor.
  void note(Clock::duration duration, bool disturbed) {
    Clock::duration rest(rest_.load());
    if (disturbed) {
      rest = std::clamp<Clock::duration>(2 * rest, shortest_rest, longest_rest);
      rest_until_.store((Clock::now() + rest).time_since_epoch().count());
    } else {
      rest = std::max<Clock::duration>(rest - duration, Clock::duration::zero());
    }
    rest_.store(rest.count());
  }

  bool start_members(int wanted) {
    if (started_.load() >= wanted) return true;
    const std::lock_guard<std::mutex> lock(starting_);
#if defined(__unix__) || defined(__APPLE__)
    sigset_t all, before;  // signals are to be handled by the application's threads
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
#endif
    try {
      for (; started_.load() < wanted; started_.fetch_add(1)) std::thread([this] { live(); }).detach();
    } catch (const std::system_error&) {  // no more threads or memory: go on with the threads that exist
    } catch (const std::bad_alloc&) {
    }
#if defined(__unix__) || defined(__APPLE__)
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
#endif
    return started_.load() > 0;
  }

  // The loop of a member: wait for an open door, enter, work, leave.
  [[noreturn]] void live() {
    at_work = true;
    for (;;) {
      Door* door = nullptr;
      const auto found = [&] { return (door = find_work()) != nullptr; };
      // A long busy loop would take processor time from other programs: it is used only if members have not been preempted
      // recently.
      if (!idle_.wait(found, std::chrono::hours(1), rest_.load() == 0 ? series : Bell::usual_spinning)) continue;
      const long before = times_preempted();
      visiting_ = true;
      door->task.run(door->task.context);
      door->preempted.fetch_add(times_preempted() - before);
      working_.fetch_sub(1);
      door->leave();
    }
  }

  Door* find_work() {
    if (open_doors_.load() == 0) return nullptr;
    for (Door& door : doors_) {
      if (!(door.state.load() & Door::open_bit)) continue;
      const int threads = door.threads.load();
      if (working_.load() >= threads || !door.enter()) continue;
      door.entered.fetch_add(1);
      working_.fetch_add(1);
      allowed_.store(threads);
      return &door;
    }
    return nullptr;
  }

 public:
  static thread_local bool visiting_;  // whether this member has entered a door and not yet asked comes_to_help()

 private:
  Door doors_[16];
  std::atomic<int> open_doors_{0};
  std::atomic<int> working_{0};  // the number of callers and members at work
  std::atomic<int> allowed_{1};  // the limit for working_, from the door that was entered last
  std::atomic<int> started_{0};
  std::mutex starting_;
  std::atomic<Clock::rep> awake_until_{0}, rest_until_{0}, rest_{0};
  Bell idle_;
};

thread_local bool Team::visiting_ = false;

}  // namespace

void run_on_team(int threads, Task task, Task meanwhile) {
  if (at_work) return task.run(task.context);
  Team& team = Team::get();
  const Clock::time_point start = Clock::now();
  at_work = true;
  team.begin_work();
  Door* door = threads > 1 ? team.open(threads, task) : nullptr;
  task.run(task.context);
  if (door) team.close(*door, meanwhile, start);
  team.end_work();
  at_work = false;
}

const char* threading() { return "own"; }
bool team_exists() { return true; }

void use_a_team_on_a_busy_machine(bool wish) { team_whatever_happens.store(wish); }

bool comes_to_help() { return std::exchange(Team::visiting_, false); }

bool crowded() { return Team::get().crowded(); }

Readiness team_readiness() {
  if (at_work || is_forked_child()) return Readiness::none;
  if (application_is_parallel()) return Readiness::none;  // the application's own threads use the processors
  if (team_whatever_happens.load(std::memory_order_relaxed)) return Readiness::awake;
  return Team::get().readiness();
}

}  // namespace kernsel
