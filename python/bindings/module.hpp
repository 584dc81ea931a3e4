#pragma once

#include <pybind11/pybind11.h>

void bind_runtime(pybind11::module_& module);
void bind_factor(pybind11::module_& module);
void bind_kernels(pybind11::module_& module);
void bind_approximations(pybind11::module_& module);
void bind_landmarks(pybind11::module_& module);
void bind_likelihoods(pybind11::module_& module);
void bind_landmark_posterior(pybind11::module_& module);
void bind_criteria(pybind11::module_& module);
void bind_inference(pybind11::module_& module);
void bind_paths(pybind11::module_& module);
void bind_landmark_path(pybind11::module_& module);
void bind_posterior(pybind11::module_& module);
void bind_search(pybind11::module_& module);
void bind_strings(pybind11::module_& module);
void bind_support(pybind11::module_& module);
