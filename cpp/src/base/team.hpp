// The interface of the team, the threads that help a calling thread with its jobs. It has three implementations, team_own.cpp,
// team_openmp.cpp and team_none.cpp, of which the build takes one (KERNSEL_THREADS). No other file starts threads; OpenMP is
// used only by team_openmp.cpp and threads.cpp.
//
// In team_own.cpp, a caller opens a door to its work, works itself, and closes the door when no job is left to begin. It then
// waits for the members of the team that have entered, and for no others: a member that got no processor meanwhile causes no
// delay.
#pragma once

namespace kernsel {

struct Task {
  void (*run)(void* context);
  void* context;
  bool lasting = false;  // members that are busy when it begins may join later
};

bool team_exists();

// Returns whether this process was forked from one that had loaded the library. Of the threads of its parent, such a process
// has only the one that called fork().
bool is_forked_child();

// Returns whether the calling thread is one of several threads of an OpenMP region of the application.
bool application_is_parallel();

// Calls task.run on the calling thread, and at the same time on up to `threads` - 1 members of the team. task.run must return
// when no job is left to begin. While the caller waits for members to finish, it calls meanwhile.run about twenty times a
// second (team_own.cpp only).
void run_on_team(int threads, Task task, Task meanwhile);

// Returns whether the calling thread is a member of the team that has just joined the work of another thread, which the others
// finish if this one leaves. The answer is true only once for each visit: work that a member starts within a job is its own,
// and it must finish it.
bool comes_to_help();

// Returns whether more threads are at work than there may be, so that a thread that only helps should leave.
bool crowded();

// Tells whether a team would be of use to the calling thread now, and whether its members are awake: a member without work
// looks for some in a busy loop for a moment before it sleeps. `none` means that the caller already works on a task of a team
// or is in a child of fork(), or that the application uses the processors itself, or that a member has recently lost its
// processor to another program and might delay the caller again.
enum class Readiness { none, asleep, awake };
Readiness team_readiness();

// For tests: team_readiness() ignores how busy the machine is.
void use_a_team_on_a_busy_machine(bool wish);

}  // namespace kernsel
