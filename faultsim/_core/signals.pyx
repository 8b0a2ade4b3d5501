"""Ctrl-C in work that takes long; the contract is in signals.pxd."""

cdef extern from "Python.h":
    int PyErr_CheckSignals()         # and the exception waits, which Cython's own declaration would raise here


cdef bint look_for_signals() noexcept nogil:
    cdef bint raised
    with gil:
        raised = PyErr_CheckSignals() != 0
    return raised


cdef int raise_waiting() except -1:
    return -1
