# Sizes from which on shortcuts are taken, and numbers of items that they store.  These numbers change the speed of a
# run and never its result.  Tests set them to their least, so that small cases take every shortcut.
#
# Contract
# - A state copies the values when it is opened, and reads its copy; a copy of the state keeps them.  `sim_t.limit` is
#   the copy of a simulation, `torus_t.limit` that of a torus and of all finders on it.  Only `first_room` is also read
#   when an array grows for the first time.
# - An array of fixed length keeps it; the threshold is the number of its items that are used.
# - Ranges, defaults, and how these were chosen: thresholds.pyx.

from libc.stdint cimport int32_t, int64_t

cdef struct thresholds_t:
    # all growing arrays
    int32_t first_room       # items that a new array has room for, at most
    # copies of simulations with a record
    int32_t shared_rows      # rows from which on they are shared by copies; room of a copy for further ones
    # conservative plans on clusters
    int32_t horizon_steps    # steps up to the first horizon
    # queues with an order that changes with time
    int32_t unsorted_starts  # jobs that are found without sorting the queue, before it is sorted
    int32_t program_batch    # jobs for which the program of a key runs at once; at most 256
    # placed machines
    int32_t single_releases  # releases read one by one, before a shadow time is found by bisection
    int32_t places_left      # places that jobs left, read one by one; at most 4
    # clusters
    int32_t noted_looks      # jobs searched for the owner of a node, per 64 allocations, before owners are stored
    int32_t ranked_nodes     # nodes of clusters up to which they are kept in order of their failures
    int32_t failure_levels   # numbers of failures for which a word stores its nodes; at most 7
    # sites
    int32_t block_nodes      # nodes of one class for which the most that is free of any is stored
    int32_t section_blocks   # of these blocks, for which the same is stored
    int32_t form_jobs        # waiting jobs for each of their forms, above which jobs are found by form
    int32_t slurm_answers    # of plans of Slurm's backfill loop that are stored; a power of two
    # containers
    int32_t far_events       # events above which the heap fetches levels in advance
    int32_t releases_room    # running jobs in a chunk; at least 2
    # tori
    int32_t word_nodes       # nodes of tori with maps that are single integers; at most 128
    int32_t octet_rows       # rows of tori that are searched by one loop over words; at most 8
    int32_t layer_bytes      # bytes of layers that a view keeps; where more are needed, it keeps none
    int32_t gain_part        # of the words read to find the bounds of a view: so many to raise them; 0: no limit
    int32_t slice_part       # part of the nodes: free boxes are searched for beside boxes of at most so many; 0: of all
    int32_t near_looks       # words and nodes read beside a few places, before the whole torus is searched
    int32_t memo_choices     # choices that are stored on a torus with maps of single integers; a power of two
    int32_t single_columns   # columns read one by one, before a search of all
    int32_t dense_counts     # steps per node above which counts are numbers, not planes of bits
    int32_t single_bases     # how much more a count base by base may cost than one of all bases
    # workflows
    int32_t summed_terms     # equal terms that are added one by one

cdef thresholds_t thresholds     # what states copy
