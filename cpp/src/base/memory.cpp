#include "base/memory.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#endif
#if defined(_WIN32)
#include <malloc.h>
#endif

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "kernsel/runtime.hpp"

namespace kernsel {

namespace {

constexpr std::size_t cache_line = 64;
constexpr std::size_t huge_page = std::size_t{1} << 21;
// Smaller requests are not compared with the available memory, which would take some system calls each.
constexpr std::size_t worth_checking = std::size_t{1} << 26;

#if defined(__linux__)
constexpr std::size_t unknown = std::numeric_limits<std::size_t>::max();

// Reads the number in a file of the operating system that has only one, or the number after `key` in a file of lines "key
// number". Returns `unknown` if there is none.
std::size_t read_number(const char* path, const char* key = nullptr) {
  std::FILE* file = std::fopen(path, "re");
  if (!file) return unknown;
  char line[256];
  std::size_t number = unknown;
  while (std::fgets(line, sizeof line, file)) {
    const std::size_t skip = key ? std::strlen(key) : 0;
    if (key && std::strncmp(line, key, skip) != 0) continue;
    unsigned long long value = 0;
    if (std::sscanf(line + skip, "%llu", &value) == 1) number = static_cast<std::size_t>(value);
    break;
  }
  std::fclose(file);
  return number;
}

// The memory that the control group mounted at the root, such as that of a container, still allows. Cached file contents that
// can be dropped count as free.
std::size_t left_in_group() {
  const char* group = "/sys/fs/cgroup/";
  const std::pair<const char*, const char*> versions[] = {{"memory.max", "memory.current"},
                                                          {"memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"}};
  for (const auto& [limit_name, usage_name] : versions) {
    char path[128];
    std::snprintf(path, sizeof path, "%s%s", group, limit_name);
    const std::size_t limit = read_number(path);
    std::snprintf(path, sizeof path, "%s%s", group, usage_name);
    const std::size_t usage = read_number(path);
    if (limit == unknown || usage == unknown) continue;
    std::snprintf(path, sizeof path, "%s%s", group, usage_name[6] == '.' ? "memory.stat" : "memory/memory.stat");
    const std::size_t cache = read_number(path, usage_name[6] == '.' ? "inactive_file " : "total_inactive_file ");
    const std::size_t used = usage - (cache == unknown ? 0 : std::min(cache, usage));
    return limit > used ? limit - used : 0;
  }
  return unknown;
}

// What the limit of the address space (ulimit -v) still allows.
std::size_t left_in_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unknown;
  const std::size_t pages = read_number("/proc/self/statm");
  const std::size_t used = pages == unknown ? 0 : pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}
#endif

}  // namespace

std::size_t available_memory() {
#if defined(__linux__)
  const std::size_t kilobytes = read_number("/proc/meminfo", "MemAvailable:");
  const std::size_t machine = kilobytes == unknown ? unknown : kilobytes * 1024;
  const std::size_t left = std::min({machine, left_in_group(), left_in_address_space()});
  return left == unknown ? 0 : std::max<std::size_t>(left, 1);
#else
  return 0;
#endif
}

Status check_memory(std::size_t bytes) {
  Status status;
  if (bytes < worth_checking) return status;
  const std::size_t available = available_memory();
  if (available != 0 && bytes > available) {
    status.code = Code::out_of_memory;
    status.bytes = bytes;
    status.available = available;
  }
  return status;
}

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void Memory::release() {
#if defined(_WIN32)
  _aligned_free(data_);
#else
  std::free(data_);
#endif
  data_ = nullptr;
  bytes_ = 0;
}

Status Memory::reserve(std::size_t bytes) {
  if (bytes <= bytes_) return {};
  release();
  Status status = check_memory(bytes);
  if (!status.ok()) return status;
  const std::size_t alignment = bytes >= 2 * huge_page ? huge_page : cache_line;
  const std::size_t rounded = (bytes + cache_line - 1) / cache_line * cache_line;
#if defined(_WIN32)
  data_ = _aligned_malloc(rounded, alignment);
#else
  if (posix_memalign(&data_, alignment, rounded) != 0) data_ = nullptr;
#endif
  if (!data_) {
    status.code = Code::out_of_memory;
    status.bytes = bytes;
    return status;
  }
#if defined(__linux__)
  if (alignment == huge_page) madvise(data_, rounded, MADV_HUGEPAGE);
#endif
  bytes_ = rounded;
  return status;
}

namespace {

std::array<Memory, scratch_slots>& kept_by_thread() {
#if defined(__MINGW32__) && !defined(__clang__)
  // There GCC destroys thread-local objects after it has freed their memory, so these are kept when their thread ends.
  thread_local auto* const kept = new std::array<Memory, scratch_slots>;
  return *kept;
#else
  thread_local std::array<Memory, scratch_slots> kept;
  return kept;
#endif
}

}  // namespace

ScratchAside::ScratchAside() { aside_.swap(kept_by_thread()); }
ScratchAside::~ScratchAside() { aside_.swap(kept_by_thread()); }

template <class T>
T* scratch(Scratch slot, Index count) {
  Memory& memory = kept_by_thread()[static_cast<std::size_t>(slot)];
  const Status status = memory.reserve(static_cast<std::size_t>(count) * sizeof(T));
  return status.ok() ? static_cast<T*>(memory.data()) : nullptr;
}

template float* scratch<float>(Scratch, Index);
template double* scratch<double>(Scratch, Index);

}  // namespace kernsel
