#include "compute.hpp"

#include <chrono>
#include <thread>

void WithoutGil::sleep_if_finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
  while (Py_IsFinalizing()) std::this_thread::sleep_for(std::chrono::seconds(1));
#else
  while (_Py_IsFinalizing()) std::this_thread::sleep_for(std::chrono::seconds(1));
#endif
}
