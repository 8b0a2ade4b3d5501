"""Lines of numbers as columns: each byte of a block is read once.

What it accepts, and what it makes of it, are those of faultsim/reference/number_lines.py.
"""

from cpython.conversion cimport PyOS_string_to_double
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memchr, memset

import numpy as np

from faultsim._core.arrays cimport memory_of

cdef enum:
    MAX_FIELDS = 64     # of a line that can be requested; further ones are checked and left out.  SWF has 18.
    MAX_DIGITS = 16     # of a whole number that becomes an int64
    EXACT_DIGITS = 15   # a double stores any whole number of so many digits
    EXACT_POWER = 22    # and so high a power of ten; one divided by the other is the double that is nearest

cdef double[EXACT_POWER + 1] POWERS
POWERS[:] = [float(10**k) for k in range(EXACT_POWER + 1)]

cdef struct line_columns_t:
    int64_t rows                # lines
    int width                   # least number of fields of a line
    int[MAX_FIELDS] column      # of a field; -1 if it is not wanted, -2 if its values must be usual ones
    int[MAX_FIELDS] usual       # bit v + 1 is set if v, from -1 to 9, is a usual value of the field
    bint[MAX_FIELDS] fraction   # whether a value of the column is anything but a short whole number
    int64_t *whole              # [column * rows + line], where the column has no fraction
    double *number              # the same, where it has one


cdef inline bint is_gap(unsigned char c) noexcept nogil:
    return c == 32 or c == 9 or c == 13


cdef inline const unsigned char *digits_end(const unsigned char *p, uint64_t *value) noexcept nogil:
    """Past the digits at p; `value` goes on with them, and wraps around if they are too many."""
    cdef uint64_t sum = value[0]
    cdef unsigned char digit = p[0] - 48
    while digit <= 9:
        sum = sum * 10 + digit
        p += 1
        digit = p[0] - 48
    value[0] = sum
    return p


cdef void make_numbers(line_columns_t *t, int64_t first, int64_t end) noexcept nogil:
    """The whole numbers of a column so far, as doubles; zeros, which have a sign, are there."""
    cdef int64_t at
    for at in range(first, end):
        if t.whole[at] != 0:
            t.number[at] = <double>t.whole[at]


cdef inline bint is_usual(int usual, const unsigned char *p, const unsigned char *end) noexcept nogil:
    """Whether a field is written as -1 or as one digit, and is among the usual values."""
    if end - p == 1:
        return p[0] != 46 and usual >> (p[0] - 47) & 1
    return end - p == 2 and p[0] == 45 and p[1] == 49 and usual & 1


cdef inline const unsigned char *parse_field(line_columns_t *t, const unsigned char *p, int64_t at,
                                             int column) except NULL:
    """Past the number that begins at p, or p where none does; its value is the one of a column and line."""
    cdef const unsigned char *begin = p
    cdef bint negative = p[0] == 45
    p += negative
    cdef const unsigned char *first = p
    cdef char *end
    cdef uint64_t value = 0
    cdef Py_ssize_t digits, decimals
    cdef double number
    p = digits_end(p, &value)
    digits = p - first
    if p[0] != 46 and 0 < digits <= MAX_DIGITS:
        if not t.fraction[column]:
            t.whole[at] = -<int64_t>value if negative else <int64_t>value
            if value == 0:
                t.number[at] = -0.0 if negative else 0.0    # of which a whole number has only one
            return p
        number = <double>value
    else:
        decimals = 0
        if p[0] == 46:
            first = p + 1
            p = digits_end(first, &value)
            decimals = p - first
            digits += decimals
        if digits == 0:
            return begin
        if not t.fraction[column]:
            t.fraction[column] = True
            make_numbers(t, column * t.rows, at)
        if digits <= EXACT_DIGITS and decimals <= EXACT_POWER:
            number = <double>value / POWERS[decimals]
        else:
            number = PyOS_string_to_double(<const char *>begin + negative, &end, NULL)
    t.number[at] = -number if negative else number
    return p


cdef inline const unsigned char *skip_field(const unsigned char *p) noexcept nogil:
    """Past the number that begins at p, or p where none does."""
    cdef const unsigned char *begin = p
    p += p[0] == 45
    cdef const unsigned char *first = p
    while <unsigned char>(p[0] - 48) <= 9:
        p += 1
    if p[0] == 46:
        p += 1
        first += 1
        while <unsigned char>(p[0] - 48) <= 9:
            p += 1
    return begin if p == first else p


cdef int64_t count_lines(const unsigned char *p, const unsigned char *end) noexcept nogil:
    """Line ends; bytes.count looks at each byte by itself."""
    cdef int64_t lines = 0
    while p < end:
        p = <const unsigned char *>memchr(p, 10, end - p) + 1   # the block ends in one
        lines += 1
    return lines


cdef bint parse_lines(line_columns_t *t, const unsigned char *p) except -1:
    """Whether all lines, the last of which ends, too, are as they should be."""
    cdef const unsigned char *begin
    cdef int fields = -1, field, column
    cdef int64_t line, rows = t.rows
    # `p` is at the beginning of `line`; all lines before it are parsed and had `fields` fields (-1: there were none).
    for line in range(rows):
        field = 0
        while True:
            while is_gap(p[0]):
                p += 1
            if p[0] == 10:
                break
            begin = p
            column = t.column[field] if field < MAX_FIELDS else -1
            if column >= 0:
                p = parse_field(t, p, column * rows + line, column)
            else:
                p = skip_field(p)
                if column == -2 and not is_usual(t.usual[field], begin, p):
                    return False
            if p == begin or p[0] != 10 and not is_gap(p[0]):
                return False
            field += 1
        p += 1
        if fields != field:
            if fields >= 0 or field < t.width:
                return False
            fields = field
    return True


def parse_block(bytes block not None, wanted, int width, usual=None):
    """Some columns of a block of lines of numbers.

    Parameters
    ----------
    block : bytes
        Lines, each of the same number of fields, none blank.
    wanted : sequence of int
        Fields to return, counted from 0, each below `width`.
    width : int
        Least number of fields of a line, at most 64.
    usual : mapping of int to sequence of int, optional
        Fields that are not wanted, and values from -1 to 9: a line in which such a field has any other value, or is
        written otherwise, is out of the ordinary.

    Returns
    -------
    list of numpy.ndarray, or None
        A column each, int64 if all its values are whole numbers of at most 16 digits written without a point, else
        float64.  None if any line has another form.

    Raises
    ------
    ValueError
        A wanted field that is not below `width`, or `width` not in 1..64.

    Examples
    --------
    >>> parse_block(b"1 10 -1\\n2 20.5 -1\\n", [0, 1], 3)
    [array([1, 2]), array([10. , 20.5])]
    >>> parse_block(b"1 10 -1\\n2 many -1\\n", [0, 1], 3) is None
    True
    >>> parse_block(b"1 10 -1\\n2 20.5 -1\\n", [0], 3, {2: [-1]}), parse_block(b"1 10 5\\n", [0], 3, {2: [-1]}) is None
    ([array([1, 2])], True)
    """
    if not 1 <= width <= MAX_FIELDS or any(not 0 <= field < width for field in wanted):
        raise ValueError(f"fields {list(wanted)} of {width}: expected fields below a width of 1 to {MAX_FIELDS}")
    if not block.endswith(b"\n"):
        block += b"\n"
    cdef line_columns_t t
    memset(&t, 0, sizeof(t))
    cdef const unsigned char *text = block
    t.width, t.rows = width, count_lines(text, text + len(block))
    cdef int field, n = 0
    for field in range(MAX_FIELDS):
        t.column[field] = -1
    for field in wanted:
        if t.column[field] < 0:
            t.column[field] = n
            n += 1
    if n == 0:
        raise ValueError("no fields are wanted")
    for field, values in ({} if usual is None else usual).items():
        if not 0 <= field < width or t.column[field] >= 0:
            raise ValueError(f"usual: field {field} is wanted, or not below the width")
        t.column[field] = -2
        for value in values:
            if not -1 <= value <= 9:
                raise ValueError(f"usual: {value} of field {field}; expected -1 to 9")
            t.usual[field] |= 1 << <int>(value + 1)
    whole, number = np.empty((n, t.rows), np.int64), np.empty((n, t.rows), np.float64)
    t.whole, t.number = <int64_t *>memory_of(whole), <double *>memory_of(number)
    if not parse_lines(&t, text):
        return None
    columns = [t.column[<int>field] for field in wanted]
    return [(number if t.fraction[<int>column] else whole)[column].copy() for column in columns]
