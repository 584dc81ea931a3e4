// How many processors this process may use, by the word of the operating system.
#pragma once

namespace kernsel {

// The processors of the calling thread's affinity mask (`taskset`), no more than the quota of its control group allows in whole
// ones (a container with 1.5 processors gets 1: a second thread would use up the quota early and then stand still). At least 1.
int usable_processors();

}  // namespace kernsel
