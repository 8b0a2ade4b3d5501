# The 0-1 knapsack of FARS (model.md#knapsack): which items to take, for the largest total value within a capacity. The
# answer is that of the plain dynamic program, including tie-breaking and to the last bit: best(0, c) = 0 best(i, c) =
# best(i-1, c - w_i) + v_i, taken, if w_i <= c and that is strictly greater than best(i-1, c); else best(i-1, c) with
# items in the order given, read back from the last item at the full capacity.  So an item with a value <= 0 (or NaN) is
# never taken, and an item of weight 0 with a value > 0 always is, unless it is too small to change the sum. All sums
# are doubles, added in the order of the items.
#
# What is left out of the table cannot be seen in the answer: items that can never be taken, the greatest common divisor
# of the weights, columns above the weights so far, and columns that no read-back can reach.  When all items fit there
# is no table at all.  Time and space are O(kept items * capacity / gcd), one bit per entry.

from libc.stdint cimport int64_t, uint8_t, uint64_t

cdef struct item_t:
    double value
    int64_t weight       # divided by the common divisor
    int64_t high         # columns above it are as this one: min(capacity, weights so far)
    int64_t low          # columns below it are never requested
    Py_ssize_t index     # in the caller's arrays
    Py_ssize_t row       # where its decisions begin in `bits`: the word of column `low`

cdef struct knapsack_t:  # scratch, kept between calls; all zero is a valid beginning
    item_t *items
    Py_ssize_t n_items   # capacity of items
    double *best         # best value by column
    Py_ssize_t n_best    # capacity of best
    uint64_t *bits       # decisions, one row of words an item
    Py_ssize_t n_bits    # capacity of bits

cdef void knapsack_init(knapsack_t *sack) noexcept nogil
cdef void knapsack_free(knapsack_t *sack) noexcept nogil

# Sets taken[i] to 1 or 0 for all n items and *total to the sum of the values taken.  Weights must be >= 0; a negative
# capacity takes nothing.  0, or -1 when memory is out (nothing is taken then, and the scratch stays usable).
cdef int knapsack_solve(knapsack_t *sack, const double *values, const int64_t *weights, Py_ssize_t n,
                        int64_t capacity, uint8_t *taken, double *total) noexcept nogil


cdef class Knapsack:
    cdef knapsack_t sack
