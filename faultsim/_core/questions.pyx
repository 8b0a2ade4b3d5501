"""Decisions of a caller or a policy in Python, other than passes; the contract is in questions.pxd."""

from cpython.ref cimport PyObject

from faultsim._core.status cimport DECIDE, OK, PYTHON_ERROR


cdef int pose_question(sim_t *s, int question, int32_t job, resume_t resume) noexcept nogil:
    cdef int code = OK
    s.asked.question, s.asked.job = question, job
    s.asked.granted = s.asked.acted = False
    if s.asked.policy[question] == NULL:
        s.asked.resume = resume
        s.deciding = True
        return DECIDE
    with gil:
        s.deciding = True            # while the GIL is held, so that no other thread looks at what changes
        try:
            s.asked.granted = (<object><PyObject *>s.owner).answer_in_python(
                <object><PyObject *>s.asked.policy[question])
        except BaseException as error:
            (<object><PyObject *>s.owner).keep_error(error)
            code = PYTHON_ERROR
        s.deciding = False
    return resume(s, &s.wanted) if code == OK else code


cdef int open_questions(sim_t *s, int question, object policy) except -1:
    s.asked.on[question] = True
    s.asked.policy[question] = NULL if policy is None else <void *><PyObject *>policy
    return 0
