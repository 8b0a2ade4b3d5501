"""Capsules of factories; the contract is in factory.pxd."""

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New

cdef const char *NAME = b"faultsim._core.factory"


cdef object factory(factory_t open):
    return PyCapsule_New(<void *>open, NAME, NULL)


cdef int call_factory(object capsule, void *target, dict options, dict columns) except -1:
    return (<factory_t>PyCapsule_GetPointer(capsule, NAME))(target, options, columns)
