"""Why a job waits: the rules of the schedulers at one moment, in plain Python (model.md#reasons)."""
