"""The 0-1 knapsack; its contract is in knapsack.pxd, its reference in faultsim/reference/fars/knapsack.py."""

from cpython.pyport cimport PY_SSIZE_T_MAX
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from faultsim._core.contract cimport fs_require

cdef enum:
    WORD = 64    # columns per word of decisions: the bits of a uint64_t

cdef uint64_t BIT[WORD]
cdef int _bit
for _bit in range(WORD):
    BIT[_bit] = (<uint64_t> 1) << _bit


cdef void knapsack_init(knapsack_t *sack) noexcept nogil:
    memset(sack, 0, sizeof(knapsack_t))


cdef void knapsack_free(knapsack_t *sack) noexcept nogil:
    free(sack.items)
    free(sack.best)
    free(sack.bits)
    memset(sack, 0, sizeof(knapsack_t))


cdef int64_t common_divisor(const item_t *items, Py_ssize_t n) noexcept nogil:
    """The greatest common divisor of the weights; 1 when all are 0."""
    cdef int64_t divisor = 0, a, b
    cdef Py_ssize_t i
    for i in range(n):
        a, b = divisor, items[i].weight
        while b:
            a, b = b, a % b
        divisor = a
        if divisor == 1:
            break
    return divisor if divisor > 0 else 1


cdef int grow(void **block, Py_ssize_t *held, Py_ssize_t wanted, size_t size) noexcept nogil:
    """Make a scratch block hold `wanted` elements; what it held is lost."""
    if wanted <= held[0]:
        return 0
    if wanted > PY_SSIZE_T_MAX // <Py_ssize_t> size:
        return -1
    free(block[0])
    block[0] = malloc(<size_t> wanted * size)
    held[0] = wanted if block[0] != NULL else 0
    return 0 if block[0] != NULL else -1


cdef void fill_row(double *best, uint64_t *row, const item_t *item) noexcept nogil:
    """One item of the dynamic programme: updates columns low..high of `best` in place and stores the decisions in
    `row`.
    """
    cdef int64_t weight = item.weight, low = item.low if item.low > weight else weight
    cdef int64_t first = item.low // WORD, word, begin, end, c
    cdef double value = item.value, with_it
    cdef double candidate[WORD]
    cdef double *old
    cdef uint64_t bits
    cdef int k
    # Downwards, so that columns below `begin` still have the values without this item.
    for word in range(item.high // WORD, first - 1, -1):
        begin = word * WORD
        end = begin + WORD
        bits = 0
        if begin >= low and end <= item.high + 1:
            # A whole word.  Read everything before anything is written: then the loops need no order and vectorise.
            old = best + begin - weight
            for k in range(WORD):
                candidate[k] = old[k] + value
            old = best + begin
            for k in range(WORD):
                bits |= BIT[k] if candidate[k] > old[k] else 0
            for k in range(WORD):
                old[k] = candidate[k] if candidate[k] > old[k] else old[k]
        else:
            for c in range(min(end - 1, item.high), max(begin, low) - 1, -1):
                with_it = best[c - weight] + value
                if with_it > best[c]:
                    best[c] = with_it
                    bits |= BIT[c - begin]
        row[word - first] = bits


cdef int solve_table(knapsack_t *sack, Py_ssize_t n, int64_t capacity, uint8_t *taken, double *total) noexcept nogil:
    cdef item_t *items = sack.items
    cdef Py_ssize_t i, words = 0
    cdef int64_t divisor = common_divisor(items, n), sum = 0, c
    capacity //= divisor
    if capacity >= PY_SSIZE_T_MAX // 2:
        return -1
    for i in range(n):
        items[i].weight //= divisor
        sum = min(capacity, sum + items[i].weight)
        items[i].high = sum
    sum = 0
    for i in range(n - 1, -1, -1):
        items[i].low = capacity - sum
        sum = min(capacity, sum + items[i].weight)
    for i in range(n):
        items[i].row = words
        words += items[i].high // WORD - items[i].low // WORD + 1
        if words > PY_SSIZE_T_MAX // 16:
            return -1
    if (grow(<void **> &sack.best, &sack.n_best, capacity + 1, sizeof(double)) < 0
            or grow(<void **> &sack.bits, &sack.n_bits, words, sizeof(uint64_t)) < 0):
        return -1

    sack.best[0] = 0.0
    sum = 0
    for i in range(n):
        for c in range(sum + 1, items[i].high + 1):
            sack.best[c] = sack.best[sum]
        sum = items[i].high
        fill_row(sack.best, sack.bits + items[i].row, &items[i])

    c = capacity
    for i in range(n - 1, -1, -1):
        c = min(c, items[i].high)
        if sack.bits[items[i].row + c // WORD - items[i].low // WORD] & BIT[c % WORD]:
            taken[items[i].index] = 1
            c -= items[i].weight
    total[0] = sack.best[capacity]
    return 0


cdef int knapsack_solve(knapsack_t *sack, const double *values, const int64_t *weights, Py_ssize_t n,
                        int64_t capacity, uint8_t *taken, double *total) noexcept nogil:
    cdef Py_ssize_t i, kept = 0
    cdef int64_t room = capacity
    cdef bint all_fit = True
    total[0] = 0.0
    if n > 0:
        memset(taken, 0, <size_t> n)
    if grow(<void **> &sack.items, &sack.n_items, n, sizeof(item_t)) < 0:
        return -1
    for i in range(n):
        fs_require(weights[i] >= 0)
        if not values[i] > 0.0 or weights[i] > capacity:
            continue
        sack.items[kept].value = values[i]
        sack.items[kept].weight = weights[i]
        sack.items[kept].index = i
        kept += 1
        if weights[i] > room:
            all_fit = False
        else:
            room -= weights[i]
    if not all_fit:
        return solve_table(sack, kept, capacity, taken, total)
    for i in range(kept):
        if total[0] + sack.items[i].value > total[0]:
            total[0] += sack.items[i].value
            taken[sack.items[i].index] = 1
    return 0


cdef class Knapsack:
    """Owns the scratch; `faultsim.knapsack` checks what goes in and is what people use."""

    def __cinit__(self):
        knapsack_init(&self.sack)

    def __dealloc__(self):
        knapsack_free(&self.sack)

    def solve(self, const double[::1] values, const int64_t[::1] weights, int64_t capacity, uint8_t[::1] taken):
        cdef double total = 0.0
        cdef Py_ssize_t n = values.shape[0]
        cdef int status = 0
        if weights.shape[0] != n or taken.shape[0] != n:
            raise ValueError("values, weights and taken must have one length")
        if n > 0:
            with nogil:
                status = knapsack_solve(&self.sack, &values[0], &weights[0], n, capacity, &taken[0], &total)
        if status < 0:
            raise MemoryError(f"no memory for a knapsack of {n} items and capacity {capacity}")
        return total
