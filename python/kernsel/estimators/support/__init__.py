"""Support vector machines: regression with its path and the choice of its parameters, classes, one class, other losses."""
