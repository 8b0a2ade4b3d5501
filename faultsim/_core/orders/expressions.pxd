# Stack programs over the columns of waiting jobs (model.md#key).  faultsim/policies/expressions.py writes them, and has
# the same numbers.

from libc.stdint cimport int32_t

from faultsim._core.state cimport sim_t

cdef enum operation:
    OP_NUMBER = 0            # pushes numbers[argument]
    OP_COLUMN = 1            # pushes the column `argument`
    OP_NEGATE = 2
    OP_ABS = 3
    OP_SQRT = 4
    OP_EXP = 5
    OP_LOG = 6
    OP_LOG2 = 7
    OP_LOG10 = 8
    OP_ADD = 9               # the first operation of two parts
    OP_SUBTRACT = 10
    OP_MULTIPLY = 11
    OP_DIVIDE = 12
    OP_POWER = 13
    OP_MIN = 14
    OP_MAX = 15
    OP_LESS = 16
    OP_AT_MOST = 17
    OP_MORE = 18
    OP_AT_LEAST = 19
    OP_EQUAL = 20
    OP_UNEQUAL = 21
    OP_WHERE = 22            # of three
    N_OPERATIONS = 23

cdef enum column:
    COL_SUBMIT = 0
    COL_ESTIMATE = 1
    COL_SIZE = 2
    COL_INDEX = 3
    COL_RESTARTS = 4
    COL_WAIT = 5
    COL_NOW = 6
    N_COLUMNS = 7

cdef enum:
    BATCH = 256              # jobs that a program is run for at once, at most
    MOST_KEPT = 8            # columns of parts that do not change, numbered behind the others: a format
    FURTHER = 15             # behind these: columns of the log

cdef struct program_t:
    const int32_t *code      # pairs (operation, argument)
    int32_t n
    const double *number
    double *kept[8]          # per job
    double *stack            # depth x BATCH
    int32_t depth
    int32_t batch            # jobs that it is run for at once
    # To find slopes: each wait counts as 1, and what is computed should stay between sensible bounds.
    bint unit
    bint strange             # it did not

# The values of at most BATCH jobs at s.now, in stack[0..count).
cdef void run_program(program_t *p, const sim_t *s, const int32_t *job, int32_t count) noexcept nogil
