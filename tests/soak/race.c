/* A race, which the thread sanitizer must see: else it sees nothing. */
volatile long count;
void race(long times) { while (times--) count++; }
