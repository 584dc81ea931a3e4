// The run-time environment: the instruction set, the threads, the interrupt check of long computations, the memory.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kernsel/status.hpp"

namespace kernsel {

const char* version();   // the version of this library, "major.minor.patch"
const char* compiler();  // the compiler that built it
const char* eigen_version();
const char* openmp_version();  // "" when built without OpenMP
const char* threading();  // whose threads compute: "own", those of this library, "openmp", or "none", the calling thread alone

// The instruction set is chosen once when the library is loaded: the best one that the CPU and the operating system support, or
// the one that the environment variable KERNSEL_ISA names. If that name is unknown or not supported, runtime_status() and every
// computation return an error.
Status runtime_status();
const char* isa();                        // the instruction set in use
std::vector<std::string> isa_levels();    // those that this CPU can run, lowest first
std::vector<std::string> isa_compiled();  // those compiled into this binary, lowest first

// The number of threads that a computation started from the calling thread may use: the number set here or by OMP_NUM_THREADS,
// or else the number of processors of the process, by its affinity and the quota of its control group. It is never more than
// omp_get_max_threads(), so that limits of threadpoolctl hold, and always 1 in a child of fork().
int num_threads();
void set_num_threads(int count);

// Called about every 50 ms by the thread that started a long computation; returning true ends it with Code::interrupted.
using InterruptCheck = bool (*)();
void set_interrupt_check(InterruptCheck check);

// The number of bytes that can still be allocated, according to the operating system and the control group; 0 if unknown.
std::size_t available_memory();

// Fails with Code::out_of_memory if that many more bytes are not available. Small sizes are not checked.
Status check_memory(std::size_t bytes);

}  // namespace kernsel
