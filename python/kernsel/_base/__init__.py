"""Modules that all packages use: type annotations, errors, limits on threads, the configuration of the build."""
