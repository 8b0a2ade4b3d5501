# Codes that functions of the core return; each function documents its other values.  engine.pyx turns codes into
# exceptions, and an unknown code into EngineError.

cdef enum status:
    OK = 0
    DONE = 1
    DECIDE = 2               # a scheduling pass waits for a decision from outside
    NO_MEMORY = -1
    PYTHON_ERROR = -2        # a user's policy raised; the exception waits in the engine
    STUCK = -3               # jobs are queued, nothing runs and nothing will happen
    BROKEN = -4              # an invariant does not hold
    ENDLESS = -5             # policies act or wait again and again, and nothing comes of it (model.md#endless)
