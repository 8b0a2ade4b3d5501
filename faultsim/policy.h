/* The contract of policies that are compiled elsewhere: `faultsim.CompiledOrder`, `CompiledScheduler` and
 * `CompiledPlacement`.
 *
 * Put `faultsim.get_include()` on the include path, and write #include "faultsim/policy.h"; in Cython
 * `from faultsim.policy cimport ...`.  Nothing needs to be linked: what a policy calls is handed to it as pointers.
 *
 * A signature never changes; a new one gets a new name.  Structs only grow at their end, and then the version counts
 * up: a policy compiled for an older version runs, one for a newer version is refused.
 *
 * All functions are called without the global interpreter lock, from the thread of the run, and must neither block nor
 * throw.  What `data` or `user_data` points to is shared by all runs, perhaps on several threads.  Times are seconds.
 */
#ifndef FAULTSIM_POLICY_H
#define FAULTSIM_POLICY_H
#include <stddef.h>
#include <stdint.h>

#define FAULTSIM_POLICY_VERSION 1

/* -- queue orders ------------------------------------------------------------------------------------------------- */

/* Its name as a PyCapsule, and as the signature of a scipy.LowLevelCallable. */
#define FAULTSIM_QUEUE_KEYS \
    "void (int64_t, const double *, const double *, const double *, double, double *, void *)"

/* Keys of a queue: one finite or infinite number for each of the n waiting jobs; the smallest is the head of the queue.
 *
 * The rows are in order of (submit, index).  submit and estimate are in seconds, size in nodes, now in seconds.  It is
 * called in each pass that could start a job.  The same arguments must give the same keys.  A key that is not written,
 * or NaN, ends the run with an error.
 */
typedef void (*faultsim_queue_keys_t)(int64_t n, const double *submit, const double *estimate, const double *size,
                                      double now, double *key, void *user_data);

/* -- schedulers --------------------------------------------------------------------------------------------------- */

/* The name of a PyCapsule that holds a faultsim_scheduler_t, and what `kind` must be. */
#define FAULTSIM_SCHEDULER "faultsim_scheduler_t"
#define FAULTSIM_SCHEDULER_KIND 0x48435346u

/* Nodes that are expected to be free again: those of a running job or, with job < 0, node -1 - job after its repair. */
typedef struct faultsim_release_t {
    double end;             /* may have passed: then it is expected at any moment */
    int32_t job;
    int32_t nodes;
} faultsim_release_t;

/* What has changed since the pass before. */
enum faultsim_change {
    FAULTSIM_CHANGED_NOTHING = 0,   /* the time alone: a pass that was asked for by `wake` */
    FAULTSIM_CHANGED_TAIL = 1,      /* the time, and jobs have come to the end of the queue */
    FAULTSIM_CHANGED_ALL = 2        /* anything; always so on the reference engine */
};

/* One scheduling pass, as a scheduler sees it; good until `schedule` returns.
 *
 * Waiting jobs stand at the places 0 .. waiting - 1, in the order of the queue, and keep them for the whole pass, also
 * those that have been started.
 */
typedef struct faultsim_pass_t faultsim_pass_t;
struct faultsim_pass_t {
    uint32_t version;               /* FAULTSIM_POLICY_VERSION of the engine */
    int32_t placed;                 /* 0: any free nodes serve (cluster); else `fits` tells whether a job has room: it needs
                                       a box or a slice (torus, pod), or nodes with what it asks for (site) */
    int32_t nodes;                  /* of the machine */
    int32_t free;                   /* free nodes (site: cores), also those that are reserved or drained (`fits` leaves
                                       them out); kept by `start` and `backfill` */
    int32_t waiting;
    int32_t change;                 /* enum faultsim_change */
    int32_t disturbed;              /* something has happened that voids plans: model.md#disturbances */
    int32_t running;                /* rows of `release` */
    double now;
    /* by place */
    const int32_t *job;             /* number of the job in the run, by which the columns below go */
    const int32_t *need;            /* nodes that it asks for, rounded up to a size that the machine has (site: cores) */
    const float *least;             /* at most the seconds from a start to the expected end: a quick look */
    /* by (end, job); kept by `start` and `backfill` */
    const faultsim_release_t *release;
    /* by job */
    const double *submit;
    const double *estimate;
    const int32_t *size;            /* as the job asked */
    const int32_t *restarts;        /* how often failures have killed it */
    const int32_t *row;             /* in the log that the user gave; NULL: its number */

    /* When the job at a place would end by its estimate if it were started now. */
    double (*expected_end)(faultsim_pass_t *pass, int32_t place);
    /* 1 if the job at a place can be started now, else 0. */
    int (*fits)(faultsim_pass_t *pass, int32_t place);
    /* Start a job; the placement rule chooses its nodes.  0.  What cannot be started is an error that names the job and
     * ends the run: -1, also of everything that is asked after it. */
    int (*start)(faultsim_pass_t *pass, int32_t place);
    /* When a job could start if running jobs end as expected, infinite if never, and (unless NULL) the nodes that it
     * would leave over then: model.md#easy; on a site nodes, or cores of a job that takes any number of nodes. */
    double (*shadow)(faultsim_pass_t *pass, int32_t place, int64_t *extra);
    /* Start the job at a place if that cannot delay the one at `head`: 1 if it was started, else 0.  On a torus it may
     * take a box of up to `growth` nodes more than it needs. */
    int (*backfill)(faultsim_pass_t *pass, int32_t place, int32_t head, int32_t growth);
    /* Ask for a pass at a later time, whatever else happens.  0. */
    int (*wake)(faultsim_pass_t *pass, double time);
    void *engine;                   /* the engine's own */
};

/* A scheduler.  `schedule` is called once in each pass.  Anything but 0 that it returns ends the run with an error. */
typedef struct faultsim_scheduler_t {
    uint32_t kind;                  /* FAULTSIM_SCHEDULER_KIND */
    uint32_t version;               /* FAULTSIM_POLICY_VERSION */
    const char *name;               /* for messages */
    int (*schedule)(faultsim_pass_t *pass, void *state, void *data);
    /* What it remembers of a run from pass to pass: so many bytes, and so many more for each job.  All zero at first,
     * copied byte by byte with the run: it must not point into itself. */
    size_t state_bytes;
    size_t job_bytes;
    void *data;
} faultsim_scheduler_t;

/* -- placements --------------------------------------------------------------------------------------------------- */

#define FAULTSIM_PLACEMENT "faultsim_placement_t"
#define FAULTSIM_PLACEMENT_KIND 0x434c5046u

/* A job, and the boxes of a torus of which it may take one. */
typedef struct faultsim_boxes_t faultsim_boxes_t;
struct faultsim_boxes_t {
    uint32_t version;
    int32_t job;                    /* its row in the log that the user gave */
    int32_t size;                   /* nodes that it asked for */
    int32_t shape[3];               /* of the torus */
    double now;
    double submit;
    double estimate;
    double p;                       /* probability of each prediction that a node fails */
    int64_t count;                  /* at least 1 */
    const int32_t *box;             /* base x, y, z and extents a, b, c of each: free, of one size, in box_order */
    /* Whether node (x, y, z) is taken or down, in the occupancy in which the job is placed. */
    int (*busy)(const faultsim_boxes_t *boxes, int32_t x, int32_t y, int32_t z);
    /* The nodes of the largest box that is still free beside the k-th one. */
    int32_t (*left)(const faultsim_boxes_t *boxes, int64_t k);
    /* How many nodes of the k-th one are predicted to fail while the job is expected to run. */
    int32_t (*failing)(const faultsim_boxes_t *boxes, int64_t k);
    void *engine;
};

/* A job that starts, and the free nodes of a cluster of which it takes some.  Bit i % 64 of word i / 64 is node i. */
typedef struct faultsim_nodes_t faultsim_nodes_t;
struct faultsim_nodes_t {
    uint32_t version;
    int32_t job;                    /* its row in the log that the user gave */
    int32_t count;                  /* nodes to take */
    int32_t nodes;                  /* of the cluster */
    int32_t words;
    double now;
    double submit;
    double estimate;
    double p;                       /* probability of each prediction that a node fails */
    const uint64_t *free;           /* at least `count` */
    const int32_t *failures;        /* of each node so far; NULL: this run has none */
    /* The nodes that are predicted to fail while the job is expected to run; NULL: none. */
    const uint64_t *(*failing)(const faultsim_nodes_t *nodes);
    void *engine;
};

/* A placement rule: the same question must have the same answer. */
typedef struct faultsim_placement_t {
    uint32_t kind;                  /* FAULTSIM_PLACEMENT_KIND */
    uint32_t version;               /* FAULTSIM_POLICY_VERSION */
    const char *name;               /* for messages */
    /* The index of a box; NULL: it is not for a torus.  Also asked for reservations and migrations. */
    int64_t (*choose)(const faultsim_boxes_t *boxes, void *data);
    /* Set the bits of `count` free nodes in `taken`, all 0 before, and return 0; NULL: it is not for a cluster. */
    int (*take)(const faultsim_nodes_t *nodes, uint64_t *taken, void *data);
    void *data;
} faultsim_placement_t;
#endif
