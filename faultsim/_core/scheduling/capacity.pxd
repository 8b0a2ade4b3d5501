# Capacity as a type: what is free, and how a scheduler calculates with it.
#
# A scheduler is written once, in an include file (easy.pxi, backfill.pxi, conservative.pxi, timeline.pxi), and compiled
# once per capacity by a module that includes the functions of the capacity first:
#
# capacity   value                     ask                       grant           file         machines
# count      number of free nodes      number of nodes           the same        counts.pxi   clusters
# mask       bits of the nodes taken   number of nodes, or that  mask of nodes   masks.pxi    tori, pods
#                                      and a shape
# vectors    free cores, memory and    nodes x amounts, and      amounts by      (the site machine)
#            GPUs of every node        the eligible nodes        node
#
# Contract.  For values a and b, an ask x and an ask y, and a grant g of what is free in a
# (faultsim/reference/capacity.py has the plain form, tests/reference/test_capacity.py the laws):
#
# fits(a, x)     whether x can be granted in a
# take(a, g)     a without g;  give(take(a, g), g) == a
# meet(a, b)     what is free in both: fits(meet(a, b), x) implies fits(a, x) and fits(b, x)
# covers(x, y)   y needs at least what x needs: fits(a, y) implies fits(a, x).  A partial order: except for
#                counts, x and y need not be comparable, so no scheduler may assume that one is the larger.
#
# The include files use these names of a capacity:
#
# timeline_t         steps: `at` (seconds), and the value from then on
# grant_t            what take_step and give_step receive
# describe_line, open_values, resize_values, move_values, copy_value, drop_value, take_step, give_step, note_edges,
# is_needless        values in steps (timeline.pxi has their contracts)
# window_t           the meet of several steps, for one ask
# next_open, open_window, meet_step, meet_next, window_fits
#                    (timeline.pxi, `earliest`)
