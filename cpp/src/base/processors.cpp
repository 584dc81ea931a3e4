#include "base/processors.hpp"

#if defined(__linux__)
#include <sched.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

namespace kernsel {

namespace {

#if defined(__linux__)
// Returns the first line of a file, or "" if there is none.
std::string first_line(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (!file) return "";
  char line[256];
  const bool read = std::fgets(line, sizeof line, file) != nullptr;
  std::fclose(file);
  return read ? line : "";
}

// Returns the number of processors that one folder of control groups allows, or 0 if it sets no quota. Version 2 of control
// groups writes "quota period" or "max period" into one file, version 1 writes the two numbers into two files, with the quota
// -1 for none.
double quota_of(const std::string& folder) {
  double quota = 0.0, period = 0.0;
  if (std::sscanf(first_line(folder + "/cpu.max").c_str(), "%lf %lf", &quota, &period) != 2) {
    if (std::sscanf(first_line(folder + "/cpu.cfs_quota_us").c_str(), "%lf", &quota) != 1) return 0.0;
    if (std::sscanf(first_line(folder + "/cpu.cfs_period_us").c_str(), "%lf", &period) != 1) return 0.0;
  }
  return quota > 0.0 && period > 0.0 ? quota / period : 0.0;
}

// Returns the number of processors that the control group of this process allows, or 0 if there is no quota. /proc/self/cgroup
// has lines "0::/path" (version 2) and "4:cpu,cpuacct:/path" (version 1). Inside a container, the path may be one of the host,
// which does not exist there; the quota is then that of the root.
double quota() {
  std::FILE* file = std::fopen("/proc/self/cgroup", "re");
  if (!file) return 0.0;
  double smallest = 0.0;
  char line[4096];
  while (std::fgets(line, sizeof line, file)) {
    char* controllers = std::strchr(line, ':');
    char* path = controllers ? std::strchr(controllers + 1, ':') : nullptr;
    if (!path) continue;
    *path++ = '\0';
    path[std::strcspn(path, "\n")] = '\0';
    const std::string names = std::string(",") + (controllers + 1) + ",";
    const bool unified = names == ",,";
    if (!unified && names.find(",cpu,") == std::string::npos) continue;
    for (const char* root : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"}) {
      const double limit = smallest_quota(root, std::strcmp(path, "/") == 0 ? "" : path);
      if (limit > 0.0 && (smallest == 0.0 || limit < smallest)) smallest = limit;
    }
  }
  std::fclose(file);
  return smallest;
}

int in_affinity_mask() {
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) return CPU_COUNT(&mask);
  return static_cast<int>(std::thread::hardware_concurrency());  // the machine has more processors than the mask has bits
}
#else
double quota() { return 0.0; }
int in_affinity_mask() { return static_cast<int>(std::thread::hardware_concurrency()); }
#endif

}  // namespace

double smallest_quota(const std::string& root, std::string group) {
  double smallest = 0.0;
#if defined(__linux__)
  for (;;) {
    const double quota = quota_of(root + group);
    if (quota > 0.0 && (smallest == 0.0 || quota < smallest)) smallest = quota;
    const std::size_t slash = group.rfind('/');
    if (slash == std::string::npos) break;
    group.resize(slash);
  }
#else
  static_cast<void>(root);
  static_cast<void>(group);
#endif
  return smallest;
}

int usable_processors() {
  static const double limit = quota();  // read once: it takes some ten system calls
  const int processors = std::max(in_affinity_mask(), 1);
  return limit > 0.0 ? std::clamp(static_cast<int>(std::lround(std::min(limit, 1e6))), 1, processors) : processors;
}

}  // namespace kernsel
