"""A lock of an object that one thread at a time may use; the contract is in door.pxd."""

cimport cython
from cpython.pythread cimport PyThread_get_thread_ident
from libc.stdint cimport int64_t

cdef extern from "atomic.h" nogil:
    int64_t fs_add(int64_t *to, int64_t count)
    int64_t fs_swap(int64_t *at, int64_t value)
    int64_t fs_take(int64_t *at, int64_t value)
    void fs_rest()


@cython.final
@cython.freelist(16)
@cython.no_gc
cdef class Inside:
    """A thread is inside until this one ends, or its `with` statement does."""

    def __dealloc__(self):
        self.leave()

    cpdef leave(self):
        """Let the next one in."""
        door, self.door = self.door, None
        if door is not None:
            fs_swap(&door.word, 0)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.leave()


cdef Inside _BEFORE = Inside.__new__(Inside)


@cython.final
cdef class Door:
    """The one door of an object.

    Parameters
    ----------
    error : type
        Raised by `enter` while another thread is inside.
    what : str
        The name of the object, for the message.
    """

    def __init__(self, error=RuntimeError, str what="object"):
        self.error, self.what = error, what

    def __reduce__(self):
        return Door, (self.error, self.what)     # a copy has its own lock, which is free

    cpdef Inside enter(self, bint brief=False):
        """Go in, for a brief look or for longer."""
        cdef int64_t mine = <int64_t>PyThread_get_thread_ident() << 1, there = fs_add(&self.word, 0)
        cdef Inside inside
        if there >> 1 == mine >> 1:
            if there & 1 and not brief:
                raise self.error(f"this thread is looking at the {self.what}, and cannot act meanwhile")
            return _BEFORE
        inside = Inside.__new__(Inside)      # before it is needed: memory may be out
        there = fs_take(&self.word, mine | brief)
        while there != 0:
            if not there & 1:
                raise self.error(
                    f"another thread is in the middle of a step of this {self.what}: nothing was done, try again later")
            with nogil:
                while fs_add(&self.word, 0) == there:
                    fs_rest()
            there = fs_take(&self.word, mine | brief)
        inside.door = self
        return inside
