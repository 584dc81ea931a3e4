// What runs: the instruction set, the threads, the hook that stops long computations.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kernsel/status.hpp"

namespace kernsel {

const char* version();   // of this library, "major.minor.patch"
const char* compiler();  // that built it
const char* eigen_version();
const char* openmp_version();  // "" when built without OpenMP

// Instruction sets, chosen once when the library is loaded: the best one that CPU and operating system allow, or the one
// that the environment variable KERNSEL_ISA names. A name that is unknown, or above the CPU, makes
// every computation return the status below.
Status runtime_status();
const char* isa();                        // in use
std::vector<std::string> isa_levels();    // that this CPU can run, lowest first
std::vector<std::string> isa_compiled();  // in this binary, lowest first

// Threads that a computation started from the calling thread may use: as many as were asked for here or by OMP_NUM_THREADS, or
// else as the process has processors, by its affinity and its control group's quota. Never more than omp_get_max_threads(), so
// that threadpoolctl keeps its say; always 1 in a child of fork().
int num_threads();
void set_num_threads(int count);

// Called about every 50 ms by the thread that started a long computation; returning true ends it with Code::interrupted.
using InterruptCheck = bool (*)();
void set_interrupt_check(InterruptCheck check);

// Bytes that can still be allocated, by the operating system's and the control group's word; 0 if unknown.
std::size_t available_memory();

// Code::out_of_memory if that many bytes more can not be had. Small sizes are not looked at.
Status check_memory(std::size_t bytes);

}  // namespace kernsel
