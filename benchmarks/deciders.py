"""Built-in schedulers, decided from outside: what benchmarks measure, and tests compare with the built-in ones."""


def fcfs(d):
    """model.md#fcfs; what still waits."""
    waiting = d.queue.tolist()
    while waiting and d.fits(waiting[0]):
        d.start(waiting.pop(0))
    return waiting


def easy(d):
    """model.md#easy."""
    for job in fcfs(d)[1:]:
        if not d.free:
            break
        d.backfill(job)
