# The contract of policies that are compiled elsewhere, as they see it.

include "faultsim/policy.pxd"
