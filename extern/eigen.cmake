# How Eigen gets here: no file of it is in git, and no build needs a system Eigen.
#
#   1. extern/eigen, which an sdist carries. In a checkout it appears when an sdist is built; git ignores it.
#   2. The Python package cmeel-eigen, which pyproject.toml makes a requirement of builds from a checkout.
#   3. A system Eigen, 3.4 or later, as the last resort (embedding without Python).
#
# The first two are pinned by the hash of their header tree.

set(KERNSEL_EIGEN_PIN_VERSION "3.4.1")
set(KERNSEL_EIGEN_PIN_HASH "be7f49ff3bd27ce6bad186d047a7ee0ccb554e3614b240e5ffefc2f7e022e6ad")
set(_kernsel_extern "${CMAKE_CURRENT_LIST_DIR}")

# One hash for all headers below `root`/Eigen: names and contents.
function(_kernsel_hash_tree root out)
  file(GLOB_RECURSE files LIST_DIRECTORIES false RELATIVE "${root}" "${root}/Eigen/*")
  list(SORT files)
  set(all "")
  foreach(file IN LISTS files)
    file(SHA256 "${root}/${file}" hash)
    string(APPEND all "${hash} ${file}\n")
  endforeach()
  string(SHA256 hash "${all}")
  set(${out} "${hash}" PARENT_SCOPE)
endfunction()

function(_kernsel_locate_package out)
  find_package(Python 3.11 COMPONENTS Interpreter QUIET)
  set(${out} "" PARENT_SCOPE)
  if(NOT Python_Interpreter_FOUND)
    return()
  endif()
  execute_process(
    COMMAND "${Python_EXECUTABLE}" -c
      "from importlib.metadata import distribution as d; print(d('cmeel-eigen').locate_file('cmeel.prefix/include/eigen3'))"
    OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed AND EXISTS "${path}/Eigen/Core")
    file(TO_CMAKE_PATH "${path}" path)
    set(${out} "${path}" PARENT_SCOPE)
  endif()
endfunction()

# Sets KERNSEL_EIGEN_INCLUDE and KERNSEL_EIGEN_VERSION.
function(kernsel_find_eigen)
  set(candidates "")
  if(EXISTS "${_kernsel_extern}/eigen/Eigen/Core")
    list(APPEND candidates "${_kernsel_extern}/eigen")
  endif()
  _kernsel_locate_package(package)
  list(APPEND candidates ${package})
  foreach(candidate IN LISTS candidates)
    _kernsel_hash_tree("${candidate}" hash)
    if(hash STREQUAL KERNSEL_EIGEN_PIN_HASH)
      message(STATUS "kernsel: Eigen ${KERNSEL_EIGEN_PIN_VERSION} from ${candidate}")
      set(KERNSEL_EIGEN_INCLUDE "${candidate}" PARENT_SCOPE)
      set(KERNSEL_EIGEN_VERSION "${KERNSEL_EIGEN_PIN_VERSION}" PARENT_SCOPE)
      return()
    endif()
    message(WARNING "kernsel: the Eigen headers in ${candidate} are not those pinned (their hash is ${hash}): not used")
  endforeach()
  find_package(Eigen3 NO_MODULE QUIET)
  if(NOT Eigen3_FOUND OR Eigen3_VERSION VERSION_LESS 3.4)
    message(FATAL_ERROR "kernsel: no Eigen found. Build with pip, or `pip install cmeel-eigen==${KERNSEL_EIGEN_PIN_VERSION}` "
                        "for the Python that CMake finds, or install Eigen >= 3.4 where find_package(Eigen3) sees it.")
  endif()
  get_target_property(include Eigen3::Eigen INTERFACE_INCLUDE_DIRECTORIES)
  message(STATUS "kernsel: system Eigen ${Eigen3_VERSION} from ${include}")
  set(KERNSEL_EIGEN_INCLUDE "${include}" PARENT_SCOPE)
  set(KERNSEL_EIGEN_VERSION "${Eigen3_VERSION}" PARENT_SCOPE)
endfunction()

# For the sdist: the pinned headers into extern/eigen.
function(kernsel_vendor_eigen)
  _kernsel_locate_package(package)
  if(NOT package)
    message(FATAL_ERROR "kernsel: building an sdist needs cmeel-eigen==${KERNSEL_EIGEN_PIN_VERSION}")
  endif()
  _kernsel_hash_tree("${package}" hash)
  if(NOT hash STREQUAL KERNSEL_EIGEN_PIN_HASH)
    message(FATAL_ERROR "kernsel: cmeel-eigen's headers have the hash ${hash}, which is not the pinned one")
  endif()
  file(REMOVE_RECURSE "${_kernsel_extern}/eigen")
  file(COPY "${package}/Eigen" DESTINATION "${_kernsel_extern}/eigen")
endfunction()
