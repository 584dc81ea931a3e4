// How many processors this process may use, by the word of the operating system.
#pragma once

#include <string>

namespace kernsel {

// The processors of the calling thread's affinity mask (`taskset`), no more than the quota of its control group (a
// container's), rounded: with 1.5 processors, two threads stand still for a quarter of the time and still do half as much again
// as one. At least 1.
int usable_processors();

// The smallest quota, in processors, that a folder of control groups or one above it sets, in the hierarchy mounted at `root`;
// 0 if none does. `group` is "" or "/of/folders".
double smallest_quota(const std::string& root, std::string group);

}  // namespace kernsel
