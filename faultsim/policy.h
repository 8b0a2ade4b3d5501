/* The contract of policies that are compiled elsewhere, for `faultsim.CompiledOrder`.
 *
 * Put `faultsim.get_include()` on the include path, and write #include "faultsim/policy.h"; in Cython
 * `from faultsim.policy cimport faultsim_queue_keys_t`.  A signature never changes; a new one gets a new name, and the
 * version counts up.
 */
#ifndef FAULTSIM_POLICY_H
#define FAULTSIM_POLICY_H
#include <stdint.h>

#define FAULTSIM_POLICY_VERSION 1

/* Its name as a PyCapsule, and as the signature of a scipy.LowLevelCallable. */
#define FAULTSIM_QUEUE_KEYS \
    "void (int64_t, const double *, const double *, const double *, double, double *, void *)"

/* Keys of a queue: one finite or infinite number for each of the n waiting jobs; the smallest is the head of the queue.
 *
 * The rows are in order of (submit, index).  submit and estimate are in seconds, size in nodes, now in seconds.  It is
 * called in each pass that could start a job, without the global interpreter lock, from the thread of the run, and must
 * neither block nor throw.  Whatever it needs besides is behind user_data, which runs on several threads share.  The
 * same arguments must give the same keys.  A key that is not written, or NaN, ends the run with an error.
 */
typedef void (*faultsim_queue_keys_t)(int64_t n, const double *submit, const double *estimate, const double *size,
                                      double now, double *key, void *user_data);
#endif
