# A lock of an object that one thread at a time may use; the thread that holds it is "inside".
#
# Contract
# - A thread is inside as long as the `Inside` that `enter` returned exists: a variable of the function that must not be
#   disturbed, or a `with` statement.  If the thread is inside already, that object does nothing.
# - A thread that enters while another one is inside waits if the other one is inside to read (`brief`): that takes a
#   short time, because it runs no foreign code.  Otherwise `enter` raises.  A thread that is inside to read must not
#   write.

from libc.stdint cimport int64_t

cdef class Door:
    cdef int64_t word        # 2 * the thread that is inside, + 1 if it is there to read; 0: none
    cdef public object error         # what is raised
    cdef str what            # the name of the object, for the message

    cpdef Inside enter(self, bint brief=*)

cdef class Inside:
    cdef Door door           # None: the thread was inside before

    cpdef leave(self)
