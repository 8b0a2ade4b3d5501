# Who is inside an object that one thread at a time may use.
#
# Contract
# - A thread is inside as long as somebody has the `Inside` that `enter` gave: a variable of the function that may not
#   be disturbed, or a `with` statement.  Where the thread is inside already, that one does nothing.
# - Who comes while another thread is inside waits if that one has come for a brief look, which runs nobody else's code
#   and so waits for nobody, and is refused otherwise.  A thread that has come for a look must not act.

from libc.stdint cimport int64_t

cdef class Door:
    cdef int64_t word        # 2 * the thread that is inside, + 1 if it is there for a brief look; 0: nobody
    cdef public object error         # what is raised
    cdef str what            # what is behind it

    cpdef Inside enter(self, bint brief=*)

cdef class Inside:
    cdef Door door           # None: the thread was inside before

    cpdef leave(self)
