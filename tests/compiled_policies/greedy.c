/* What can be done without Cython: a scheduler that starts whatever fits, and the sizes and offsets of the structs. */
#include "faultsim/policy.h"

#if FAULTSIM_POLICY_VERSION < 1
#error "an older contract"
#endif

static int greedy(faultsim_pass_t *pass, void *state, void *data)
{
    for (int32_t place = 0; place < pass->waiting; place++)
        if (pass->fits(pass, place) && pass->start(pass, place) < 0)
            return -1;
    return 0;
}

/* The other way round: the last one that fits first. */
static int latest_first(faultsim_pass_t *pass, void *state, void *data)
{
    for (int32_t place = pass->waiting - 1; place >= 0; place--)
        if (pass->fits(pass, place) && pass->start(pass, place) < 0)
            return -1;
    return 0;
}

/* One job a pass, and another pass a second later; what it remembers is by job and of the run. */
static int slowly(faultsim_pass_t *pass, void *state, void *data)
{
    double *asked = state;
    char *seen = (char *)(asked + 1);
    for (int32_t place = 0; place < pass->waiting; place++)
        seen[pass->job[place]] = 1;
    for (int32_t place = 0; place < pass->waiting; place++)
        if (seen[pass->job[place]] && pass->fits(pass, place)) {
            if (*asked <= pass->now && pass->start(pass, place) < 0)
                return -1;
            if (*asked <= pass->now)
                *asked = pass->now + 1.0;
            break;
        }
    return pass->waiting > 0 && *asked > pass->now ? pass->wake(pass, *asked) : 0;
}

/* Anything that is possible, at random: its decisions depend on all that it is told. */
static int at_random(faultsim_pass_t *pass, void *state, void *data)
{
    uint64_t *seed = state;
    char *gone = (char *)(seed + 1);
    for (int32_t place = 0; place < pass->waiting; place++)
        gone[pass->job[place]] = 0;
    for (int32_t i = 0; i < 3 * pass->waiting; i++) {
        int64_t extra = 0;
        int32_t place, head, started = 0;
        *seed = *seed * 6364136223846793005u + 1442695040888963407u + (uint64_t)pass->free + (uint64_t)pass->running;
        place = (int32_t)((*seed >> 33) % (uint64_t)pass->waiting);
        head = (int32_t)((*seed >> 45) % (uint64_t)pass->waiting);
        if (gone[pass->job[place]])
            continue;
        if (pass->shadow(pass, place, &extra) <= pass->now)
            *seed += 7;
        *seed += (uint64_t)extra + (pass->expected_end(pass, head) > pass->now + 3.0);
        if ((*seed >> 40) % 3 == 0 && pass->fits(pass, place))
            started = pass->start(pass, place) < 0 ? -1 : 1;
        else if ((*seed >> 40) % 3 == 1 && head != place && !gone[pass->job[head]])
            started = pass->backfill(pass, place, head, (int32_t)(*seed >> 50) % 3);
        if (started < 0)
            return -1;
        gone[pass->job[place]] = (char)started;
    }
    return pass->waiting > 0 ? pass->wake(pass, pass->now + 1.0 + (double)(*seed >> 61)) : 0;
}

faultsim_scheduler_t random_table = {
    FAULTSIM_SCHEDULER_KIND, FAULTSIM_POLICY_VERSION, "at random", at_random, sizeof(uint64_t), 1, NULL};
faultsim_scheduler_t greedy_table = {FAULTSIM_SCHEDULER_KIND, FAULTSIM_POLICY_VERSION, "greedy", greedy, 0, 0, NULL};
faultsim_scheduler_t latest_table = {
    FAULTSIM_SCHEDULER_KIND, FAULTSIM_POLICY_VERSION, "latest", latest_first, 0, 0, NULL};
faultsim_scheduler_t slow_table = {
    FAULTSIM_SCHEDULER_KIND, FAULTSIM_POLICY_VERSION, "slowly", slowly, sizeof(double), 1, NULL};

/* A rule with data of its own: so many of the boxes are passed over. */
static int64_t pass_over(const faultsim_boxes_t *boxes, void *data)
{
    return *(int64_t *)data % boxes->count;
}

int64_t passed_over = 1;
faultsim_placement_t placement_table = {
    FAULTSIM_PLACEMENT_KIND, FAULTSIM_POLICY_VERSION, "pass_over", pass_over, NULL, &passed_over};

size_t size_of_pass = sizeof(faultsim_pass_t), engine_of_pass = offsetof(faultsim_pass_t, engine);
size_t size_of_release = sizeof(faultsim_release_t), engine_of_release = offsetof(faultsim_release_t, nodes);
size_t size_of_boxes = sizeof(faultsim_boxes_t), engine_of_boxes = offsetof(faultsim_boxes_t, engine);
size_t size_of_nodes = sizeof(faultsim_nodes_t), engine_of_nodes = offsetof(faultsim_nodes_t, engine);
size_t size_of_scheduler = sizeof(faultsim_scheduler_t), engine_of_scheduler = offsetof(faultsim_scheduler_t, data);
size_t size_of_placement = sizeof(faultsim_placement_t), engine_of_placement = offsetof(faultsim_placement_t, data);
