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
