// The number of processors that this process may use, according to the operating system.
#pragma once

#include <string>

namespace kernsel {

// Returns the number of processors in the affinity mask of the calling thread (`taskset`), but not more than the quota of its
// control group (of a container), rounded to the nearest whole number: with a quota of 1.5 processors, two threads are paused
// for a quarter of the time and still do 1.5 times the work of one. At least 1.
int usable_processors();

// Returns the smallest quota, in processors, of the control group `group` and all groups above it, in the hierarchy mounted at
// `root`; 0 if none has a quota. `group` is "" or "/of/folders".
double smallest_quota(const std::string& root, std::string group);

}  // namespace kernsel
