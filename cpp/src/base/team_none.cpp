// The implementation without a team: the calling thread does all the work.
#include "base/team.hpp"
#include "kernsel/runtime.hpp"

namespace kernsel {

const char* threading() { return "none"; }
bool team_exists() { return false; }
void run_on_team(int, Task task, Task) { task.run(task.context); }
bool comes_to_help() { return false; }
bool crowded() { return false; }
Readiness team_readiness() { return Readiness::none; }
void use_a_team_on_a_busy_machine(bool) {}

}  // namespace kernsel
