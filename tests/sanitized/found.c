/* Two mistakes, to show that what watches sees them. */
#include <limits.h>
#include <stdlib.h>

int past_the_end(int n) {
    char *block = malloc(n);
    int last;
    block[n - 1] = 1;
    last = block[n];
    free(block);
    return last;
}

int beyond_the_largest(int n) { return INT_MAX - 1 + n; }
