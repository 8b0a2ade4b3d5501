"""Conservative backfilling on a cluster whose nodes fail twice as often."""

from scaling.conservative_failing import row

ROW = row(4, "at most 300 times EASY: use `Backfill(depth=k)`")
