// The threads that help with jobs. team_own.cpp, team_openmp.cpp and team_none.cpp are three of them, of which the build takes
// one (KERNSEL_THREADS); these and threads.cpp, which says how many there may be, are the only files that know threads and
// OpenMP.
//
// A caller opens a door to its work, works itself, and closes the door when it finds nothing left to begin. It then waits for
// the members of the team that are inside, and for nobody else: a member that got no processor meanwhile costs nothing.
#pragma once

namespace kernsel {

struct Task {
  void (*run)(void* context);
  void* context;
  bool lasting = false;  // so long that it pays to let in members who are busy elsewhere when it begins
};

bool team_exists();

// A child of fork() has no thread but the one that called it.
bool is_forked_child();

// Whether the caller is one of several threads of an OpenMP region of the application.
bool application_is_parallel();

// Runs task.run on the calling thread, and meanwhile on up to `threads` - 1 members of the team. It must return when nothing is
// left to begin. While the caller waits for members to come out, it calls `meanwhile` some twenty times a second.
void run_on_team(int threads, Task task, Task meanwhile);

// Whether the calling thread is a member that has just come in to somebody's work, which others finish if it leaves. The answer
// is given once for each visit: whatever a member computes within a job is its own to finish.
bool comes_to_help();

// Whether more threads are at work than there may be, so that one who only helps should leave.
bool crowded();

// Whether a team would be of use to the calling thread now. A member that finds nothing to do looks for work for a moment,
// awake, before it sleeps. `none`: the caller is at work for a team itself, or is a child of fork(), or a member has just lost
// its processor to somebody else, so that the next one would be waited for.
enum class Readiness { none, asleep, awake };
Readiness team_readiness();

// For tests: a team is of use whatever the machine does.
void use_a_team_on_a_busy_machine(bool wish);

}  // namespace kernsel
