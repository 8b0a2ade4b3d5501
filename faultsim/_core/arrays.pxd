"""Memory of NumPy's arrays, without a memoryview, for which each module would have a megabyte of C."""

from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer


cdef inline void *memory_of(array) except NULL:
    """Of a contiguous, writable array, as long as the caller has it."""
    cdef Py_buffer view
    PyObject_GetBuffer(array, &view, PyBUF_WRITABLE)
    PyBuffer_Release(&view)
    return view.buf
