"""Conservative backfilling on a cluster whose nodes fail twice as often."""

from scaling.conservative_failing import row

ROW = row(
    4,
    "at most 30 times EASY, which the whole log does not reach since EASY's own looks at long queues take half of "
    "the time",
)
