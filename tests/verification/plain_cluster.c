/* A third program for clusters: docs/background/model.md in plain C, without any shortcut, fast enough for thousands of
 * jobs.  It shares nothing with the engines.
 *
 * What it simulates: FCFS, EasyBackfill, Backfill and ConservativeBackfill in order of arrival; start delays; overrun
 * "extend" and "kill"; failures and repairs with Requeue, with both places, with Hold, with restart costs, and FirstFit.
 * Sections of the model page are named where they are followed.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum scheduler { FCFS = 0, EASY = 1, BACKFILL = 2, CONSERVATIVE = 3 };
enum state { FUTURE, QUEUED, RUNNING, HELD, DONE };
enum recovery { ARRIVAL = 0, TAIL = 1, HOLD = 2 };

typedef struct {
    double submit, run, estimate, start, finish, expected;
    double begin, end; /* of its reservation; begin = INFINITY: it has none */
    double work;       /* when it works, after a restart */
    double lead;       /* when the restart began */
    double first_start, failure_wait, lost, restart;
    double waits;      /* since this kill; INFINITY: it has started since, or its hold has ended */
    int size, restarts, backfilled;
    enum state state;
} job_t;

typedef struct { double at; int nodes; } release_t;

typedef struct {
    int n_jobs, n_nodes, scheduler, repairs_known, recovery;
    long depth;
    double restart_cost, delay, now, last_pass;
    job_t *job;
    int *holder;     /* of each node: a job, or -1 */
    double *up;      /* of each node: when it is up again; at most now: it is up */
    double *killed;  /* of each job: when it was killed last */
    int disturbed;   /* since the last pass (model.md#disturbances) */
    int *queue, n_queue;
    release_t *release; /* scratch */
    int n_releases;
    /* The profile of conservative backfilling: `level[i]` nodes are free from at[i] up to at[i + 1]. */
    double *at;
    int *level, n_steps;
} sim_t;

static int is_down(const sim_t *s, int node) { return s->up[node] > s->now; }

static int n_free(const sim_t *s)
{
    int n = 0;
    for (int k = 0; k < s->n_nodes; k++) n += s->holder[k] < 0 && !is_down(s, k);
    return n;
}

static int has_nodes(const job_t *j) { return j->state == RUNNING || j->state == HELD; }

/* model.md#lead-phase: r */
static double lead(const sim_t *s, const job_t *j) { return j->restarts > 0 ? s->restart_cost : 0.0; }

/* model.md#expected-end, without checkpoints. */
static double end_if_started(const sim_t *s, const job_t *j, double t)
{
    return ((t + s->delay) + lead(s, j)) + j->estimate;
}

static void start(sim_t *s, int index, int backfilled)
{
    job_t *j = &s->job[index];
    int left = j->size;
    for (int k = 0; left > 0; k++) /* FirstFit: the free nodes with the lowest numbers */
        if (s->holder[k] < 0 && !is_down(s, k)) {
            s->holder[k] = index;
            left--;
        }
    j->state = RUNNING;
    j->start = s->now + s->delay;
    j->expected = end_if_started(s, j, s->now);
    j->lead = j->start;
    j->work = j->start + lead(s, j);
    j->finish = j->work + j->run;
    j->backfilled = backfilled;
    j->begin = INFINITY;
}

static void leave_nodes(sim_t *s, int index)
{
    for (int k = 0; k < s->n_nodes; k++)
        if (s->holder[k] == index) s->holder[k] = -1;
}

static int by_time(const void *a, const void *b)
{
    double p = ((const release_t *)a)->at, q = ((const release_t *)b)->at;
    return (p > q) - (p < q);
}

/* model.md#releases: expected ends, now where they have passed, and the ends of repairs if they are known. */
static void list_releases(sim_t *s)
{
    s->n_releases = 0;
    for (int i = 0; i < s->n_jobs; i++)
        if (has_nodes(&s->job[i]) && s->job[i].expected < INFINITY) {
            release_t r = {fmax(s->job[i].expected, s->now), s->job[i].size};
            s->release[s->n_releases++] = r;
        }
    for (int k = 0; k < s->n_nodes; k++)
        if (is_down(s, k) && s->holder[k] < 0 && s->repairs_known) {
            release_t r = {s->up[k], 1};
            s->release[s->n_releases++] = r;
        }
    qsort(s->release, (size_t)s->n_releases, sizeof(release_t), by_time);
}

static void remove_from_queue(sim_t *s, int place)
{
    memmove(&s->queue[place], &s->queue[place + 1], (size_t)(s->n_queue - place - 1) * sizeof(int));
    s->n_queue--;
}

/* model.md#fcfs */
static void start_heads(sim_t *s)
{
    while (s->n_queue > 0 && s->job[s->queue[0]].size <= n_free(s)) {
        start(s, s->queue[0], 0);
        remove_from_queue(s, 0);
    }
}

/* model.md#easy */
static void easy(sim_t *s)
{
    double shadow = INFINITY;
    int extra = 0, head;
    start_heads(s);
    if (s->n_queue == 0) return;
    head = s->job[s->queue[0]].size;
    list_releases(s);
    int level = n_free(s);
    for (int i = 0; i < s->n_releases;) {
        double at = s->release[i].at;
        while (i < s->n_releases && s->release[i].at == at) level += s->release[i++].nodes;
        if (level >= head) {
            shadow = at;
            extra = level - head;
            break;
        }
    }
    for (int i = 1; i < s->n_queue;) {
        job_t *j = &s->job[s->queue[i]];
        int in_time = end_if_started(s, j, s->now) <= shadow;
        if (j->size <= n_free(s) && (in_time || j->size <= extra)) {
            if (!in_time) extra -= j->size;
            start(s, s->queue[i], 1);
            remove_from_queue(s, i);
        } else
            i++;
    }
}

/* model.md#backfill: the nodes available at t, beside the first `n` reservations of `held`. */
static int available(const sim_t *s, const job_t **held, int n, double t)
{
    int level = n_free(s);
    for (int i = 0; i < s->n_releases; i++)
        if (s->release[i].at <= t) level += s->release[i].nodes;
    for (int i = 0; i < n; i++)
        if (held[i]->begin <= t && t < held[i]->end) level -= held[i]->size;
    return level;
}

/* What is available at its time, "less its own size unless that is already counted". */
static int room_beside(const sim_t *s, const job_t **held, int n, const job_t *r)
{
    int level = available(s, held, n, r->begin);
    return r->begin < r->end ? level : level - r->size;
}

static void backfill(sim_t *s)
{
    const job_t **held = malloc((size_t)(s->n_jobs + 1) * sizeof(job_t *));
    int n = 0;
    long considered = 0;
    start_heads(s);
    for (int i = 0; i < s->n_queue;) {
        job_t *j = &s->job[s->queue[i]];
        double end = end_if_started(s, j, s->now);
        int may = i > 0 && j->size <= n_free(s);
        list_releases(s);
        for (int k = 0; k < n && may; k++)
            if (held[k]->begin < end && j->size > room_beside(s, held, n, held[k])) may = 0;
        if (may) {
            start(s, s->queue[i], 1);
            remove_from_queue(s, i);
            continue;
        }
        i++;
        if (considered >= s->depth) continue;
        considered++;
        /* The times tried: now, the releases, and the ends of earlier reservations, in order. */
        double t = s->now;
        while (t < INFINITY) {
            int fits = j->size <= available(s, held, n, t);
            end = end_if_started(s, j, t);
            for (int k = 0; k < n && fits; k++)
                if (t < held[k]->begin && held[k]->begin < end && j->size > room_beside(s, held, n, held[k])) fits = 0;
            if (fits) {
                j->begin = t;
                j->end = end;
                held[n++] = j;
                break;
            }
            double next = INFINITY;
            for (int k = 0; k < s->n_releases; k++)
                if (s->release[k].at > t && s->release[k].at < next) next = s->release[k].at;
            for (int k = 0; k < n; k++)
                if (held[k]->end > t && held[k]->end < next) next = held[k]->end;
            t = next;
        }
    }
    for (int i = 0; i < n; i++) ((job_t *)held[i])->begin = INFINITY;
    free(held);
}

/* ---------------------------------------------------------------------- model.md#conservative */

/* Make t, not before now, the time of a step; its index. */
static int step_at(sim_t *s, double t)
{
    int i = s->n_steps;
    while (s->at[i - 1] > t) i--;
    if (s->at[i - 1] == t) return i - 1;
    memmove(&s->at[i + 1], &s->at[i], (size_t)(s->n_steps - i) * sizeof(double));
    memmove(&s->level[i + 1], &s->level[i], (size_t)(s->n_steps - i) * sizeof(int));
    s->at[i] = t;
    s->level[i] = s->level[i - 1];
    s->n_steps++;
    return i;
}

/* `nodes` more are free in [begin, end). */
static void add(sim_t *s, double begin, double end, int nodes)
{
    int last;
    if (!(begin < end)) return;
    last = end < INFINITY ? step_at(s, end) : s->n_steps;
    int first = step_at(s, begin), n = s->n_steps;
    if (end < INFINITY) {
        last = first;
        while (s->at[last] < end) last++;
    } else
        last = n;
    for (int i = first; i < last; i++) s->level[i] += nodes;
}

static void profile(sim_t *s)
{
    s->n_steps = 1;
    s->at[0] = s->now;
    s->level[0] = s->n_nodes;
    for (int i = 0; i < s->n_jobs; i++) {
        const job_t *j = &s->job[i];
        if (has_nodes(j)) add(s, s->now, j->expected, -j->size);
        if (j->state == QUEUED && j->begin < INFINITY) add(s, j->begin, j->end, -j->size);
    }
    for (int k = 0; k < s->n_nodes; k++)
        if (is_down(s, k) && s->holder[k] < 0) add(s, s->now, s->repairs_known ? s->up[k] : INFINITY, -1);
}

/* The earliest time at which the job fits for all of its expected duration. */
static double earliest(const sim_t *s, const job_t *j)
{
    for (int i = 0; i < s->n_steps;) {
        double end = end_if_started(s, j, s->at[i]);
        int k = i, fits = 1;
        do {
            if (s->level[k] < j->size) fits = 0;
            k++;
        } while (fits && k < s->n_steps && s->at[k] < end);
        if (fits) return s->at[i];
        i = k;
    }
    return INFINITY;
}

static int is_disturbed(const sim_t *s)
{
    if (s->disturbed) return 1;
    for (int i = 0; i < s->n_jobs; i++) {
        const job_t *j = &s->job[i];
        if (j->state == RUNNING && j->expected <= s->now) return 1;
        if (j->state == QUEUED && j->begin < INFINITY && (j->begin < s->now || j->begin == s->last_pass)) return 1;
    }
    return 0;
}

static void conservative(sim_t *s)
{
    if (is_disturbed(s))
        for (int i = 0; i < s->n_queue; i++) s->job[s->queue[i]].begin = INFINITY;
    s->disturbed = 0;
    profile(s);
    for (int i = 0; i < s->n_queue;) {
        job_t *j = &s->job[s->queue[i]];
        double old = j->begin, found;
        if (old < INFINITY) add(s, old, j->end, j->size);
        found = earliest(s, j);
        if (found < old) {
            j->begin = found;
            j->end = end_if_started(s, j, found);
        }
        if (j->begin < INFINITY) add(s, j->begin, j->end, -j->size);
        if (j->begin == s->now && j->size <= n_free(s)) {
            start(s, s->queue[i], i > 0);
            remove_from_queue(s, i);
        } else
            i++;
    }
}

static void pass(sim_t *s)
{
    if (s->scheduler == FCFS) start_heads(s);
    if (s->scheduler == EASY) easy(s);
    if (s->scheduler == BACKFILL) backfill(s);
    if (s->scheduler == CONSERVATIVE) conservative(s);
    s->last_pass = s->now;
}

/* In order of arrival: (submit, index), and jobs are given in this order; with TAIL behind all that wait. */
static void enqueue(sim_t *s, int index)
{
    int place = s->n_queue;
    while (s->recovery != TAIL && place > 0 && s->queue[place - 1] > index) place--;
    memmove(&s->queue[place + 1], &s->queue[place], (size_t)(s->n_queue - place) * sizeof(int));
    s->queue[place] = index;
    s->n_queue++;
    s->job[index].state = QUEUED;
    s->job[index].begin = INFINITY;
}

/* model.md#failure-wait: at a kill or the finish, note whether the last start has come. */
static void note_start(const sim_t *s, job_t *j)
{
    if (s->now < j->start) return;
    if (j->first_start == INFINITY) j->first_start = j->start;
    if (j->waits < INFINITY) j->failure_wait += j->start - j->waits;
    j->waits = INFINITY;
}

/* model.md#kill */
static void kill_job(sim_t *s, int index)
{
    job_t *j = &s->job[index];
    s->killed[index] = s->now;
    if (s->now > j->work) j->lost += j->size * (s->now - j->work);
    if (s->now > j->lead) j->restart += fmin(s->now, j->work) - j->lead;
    if (s->recovery == HOLD) { /* model.md#hold */
        if (s->now < j->start) j->start = s->now;
        if (j->first_start == INFINITY) j->first_start = j->start;
        j->waits = s->now;
        j->state = HELD;
    } else {
        note_start(s, j);
        if (j->waits == INFINITY) j->waits = s->now;
        leave_nodes(s, index);
        enqueue(s, index);
    }
    j->restarts++;
}

/* model.md#hold: those with no node down go on; the others are expected to do so after the last known repair. */
static void settle_holds(sim_t *s)
{
    for (int i = 0; i < s->n_jobs; i++) {
        job_t *j = &s->job[i];
        double up = -INFINITY;
        if (j->state != HELD) continue;
        for (int k = 0; k < s->n_nodes; k++)
            if (s->holder[k] == i && is_down(s, k)) up = fmax(up, s->up[k]);
        if (up == -INFINITY) {
            j->failure_wait += s->now - j->waits;
            j->waits = INFINITY;
            j->state = RUNNING;
            j->lead = s->now;
            j->work = s->now + s->restart_cost;
            j->finish = j->work + j->run;
            j->expected = j->work + j->estimate;
        } else
            j->expected = s->repairs_known ? (up + s->restart_cost) + j->estimate : INFINITY;
    }
}

/* model.md#failures; whether it had an effect. */
static int fail(sim_t *s, int node, double downtime)
{
    int held = s->holder[node], effect = 0;
    if (held >= 0 && s->job[held].state == RUNNING && s->killed[held] != s->now) {
        kill_job(s, held);
        effect = 1;
    }
    if (downtime > 0 && s->now + downtime > s->up[node]) {
        s->up[node] = s->now + downtime;
        effect = 1;
    }
    return effect;
}

/* The jobs that end now; how many. */
static int finish_jobs(sim_t *s)
{
    int n = 0;
    for (int i = 0; i < s->n_jobs; i++) {
        job_t *j = &s->job[i];
        if (j->state != RUNNING || j->finish != s->now) continue;
        if (j->expected < s->now) s->disturbed = 1; /* it was past its expected end */
        note_start(s, j);
        j->restart += j->work - j->lead;
        j->state = DONE;
        leave_nodes(s, i);
        n++;
    }
    return n;
}

/* Run it; 0, or 1 if jobs wait for ever.  Results: start, finish, restarts and backfilled of each job. */
int run_cluster(int n_nodes, int scheduler, long depth, double delay, int kill, int repairs_known, int recovery,
                double restart_cost, int n_jobs, const double *submit, const double *runtime, const double *estimate,
                const int32_t *size, int n_failures, const double *failure_time, const int32_t *failure_node,
                const double *downtime, double *start_out, double *finish_out, int32_t *restarts_out,
                int32_t *backfilled_out, double *first_start_out, double *failure_wait_out, double *lost_out,
                double *restart_out)
{
    sim_t s = {0};
    int next_arrival = 0, next_failure = 0, n_done = 0, stuck = 0;
    size_t room = (size_t)(2 * n_jobs + n_nodes + 8) * 2;
    s.n_jobs = n_jobs, s.n_nodes = n_nodes, s.scheduler = scheduler, s.depth = depth, s.delay = delay;
    s.repairs_known = repairs_known, s.recovery = recovery, s.restart_cost = restart_cost, s.last_pass = -INFINITY;
    s.job = calloc((size_t)n_jobs, sizeof(job_t));
    s.killed = malloc((size_t)n_jobs * sizeof(double));
    s.holder = malloc((size_t)n_nodes * sizeof(int));
    s.up = malloc((size_t)n_nodes * sizeof(double));
    s.queue = malloc((size_t)n_jobs * sizeof(int));
    s.release = malloc((size_t)(n_jobs + n_nodes) * sizeof(release_t));
    s.at = malloc(room * 2 * sizeof(double));
    s.level = malloc(room * 2 * sizeof(int));
    for (int k = 0; k < n_nodes; k++) s.holder[k] = -1, s.up[k] = -INFINITY;
    for (int i = 0; i < n_jobs; i++) {
        job_t *j = &s.job[i];
        j->submit = submit[i], j->estimate = estimate[i], j->size = size[i], j->begin = INFINITY;
        j->run = kill && estimate[i] < runtime[i] ? estimate[i] : runtime[i];
        j->first_start = j->waits = INFINITY;
        s.killed[i] = -INFINITY;
    }
    /* model.md#early-failures */
    while (next_failure < n_failures && failure_time[next_failure] < submit[0]) {
        s.now = failure_time[next_failure];
        fail(&s, failure_node[next_failure], downtime[next_failure]);
        next_failure++;
    }
    for (int k = 0; k < n_nodes; k++)
        if (s.up[k] <= submit[0]) s.up[k] = -INFINITY;
    s.disturbed = 0;
    s.now = -INFINITY;
    while (n_done < n_jobs) {
        double t = INFINITY;
        int wanted = 0;
        for (int i = 0; i < n_jobs; i++)
            if (s.job[i].state == RUNNING && s.job[i].finish < t) t = s.job[i].finish;
        for (int k = 0; k < n_nodes; k++)
            if (s.up[k] > s.now && s.up[k] < t) t = s.up[k];
        if (next_failure < n_failures && failure_time[next_failure] < t) t = failure_time[next_failure];
        if (next_arrival < n_jobs && s.job[next_arrival].submit < t) t = s.job[next_arrival].submit;
        if (t == INFINITY) {
            stuck = 1;
            break;
        }
        int ended, repaired = 0;
        for (int k = 0; k < n_nodes; k++) repaired += s.up[k] > s.now && s.up[k] <= t;
        s.now = t;
        /* model.md#events: finishes, repairs, failures, arrivals.  A hold that ends now with nothing left to do and no
         * restart cost makes a finish of this instant, which comes before the failures that are left. */
        ended = finish_jobs(&s);
        if (repaired) {
            wanted = s.disturbed = 1;
            settle_holds(&s);
            ended += finish_jobs(&s);
        }
        while (next_failure < n_failures && failure_time[next_failure] == t) {
            if (fail(&s, failure_node[next_failure], downtime[next_failure])) wanted = s.disturbed = 1;
            next_failure++;
        }
        settle_holds(&s);
        ended += finish_jobs(&s);
        n_done += ended;
        wanted |= ended > 0;
        while (next_arrival < n_jobs && s.job[next_arrival].submit == t) {
            enqueue(&s, next_arrival++);
            wanted = 1;
        }
        if (wanted) pass(&s);
    }
    for (int i = 0; i < n_jobs; i++) {
        start_out[i] = s.job[i].start, finish_out[i] = s.job[i].finish;
        restarts_out[i] = s.job[i].restarts, backfilled_out[i] = s.job[i].backfilled;
        first_start_out[i] = s.job[i].first_start, failure_wait_out[i] = s.job[i].failure_wait;
        lost_out[i] = s.job[i].lost, restart_out[i] = s.job[i].restart;
    }
    free(s.job), free(s.killed), free(s.holder), free(s.up), free(s.queue), free(s.release), free(s.at), free(s.level);
    return stuck;
}
