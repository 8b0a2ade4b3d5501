"""Ctrl-C in work that takes long; the contract is in signals.pxd."""

from cpython.exc cimport PyErr_CheckSignals as check_signals
from cpython.ref cimport PyObject

cdef extern from "Python.h":
    int PyErr_CheckSignals()         # and the exception waits, which Cython's own declaration would raise here


cdef bint look_for_signals() noexcept nogil:
    cdef bint raised
    with gil:
        raised = PyErr_CheckSignals() != 0
    return raised


cdef int raise_waiting() except -1:
    return -1


cdef int keep_interrupt(void *owner) noexcept nogil:
    cdef int code = 0
    if owner == NULL:
        return 0
    with gil:
        try:
            check_signals()
        except BaseException as error:
            (<object><PyObject *>owner).keep_error(error)
            code = -1
    return code
