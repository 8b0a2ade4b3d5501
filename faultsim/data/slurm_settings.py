"""Names of slurm.conf: what the model reads of it, with Slurm's defaults, and what leaving out the rest means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from faultsim import checks

Kind = Literal["count", "minutes", "seconds", "time", "number", "words", "weights", "flag", "word", "memory"]


@dataclass(frozen=True)
class Setting:
    """A setting: its name, the kind of its values, and what Slurm 22.05 takes if it is not given.

    Times are kept in the unit of the kind: ``minutes``, or seconds for ``seconds`` and ``time``; in a ``time`` of
    slurm.conf a plain number is minutes.  ``memory`` is in MiB.  None is "no limit", or "the default of another one".
    """

    name: str
    kind: Kind
    default: object
    words: tuple[str, ...] = ()


def _listed(*rows: Setting) -> dict[str, Setting]:
    return {row.name.lower(): row for row in rows}


#: Settings of slurm.conf that the model reads, by name in lower case.
SETTINGS: dict[str, Setting] = _listed(
    Setting("PriorityType", "word", "priority/basic", ("priority/basic", "priority/multifactor")),
    Setting("PriorityWeightAge", "count", 0),
    Setting("PriorityWeightAssoc", "count", 0),
    Setting("PriorityWeightFairshare", "count", 0),
    Setting("PriorityWeightJobSize", "count", 0),
    Setting("PriorityWeightPartition", "count", 0),
    Setting("PriorityWeightQOS", "count", 0),
    Setting("PriorityWeightTRES", "weights", ()),
    Setting("PriorityMaxAge", "time", 7 * 86400.0),
    Setting("PriorityFavorSmall", "flag", False),
    Setting(
        "PriorityFlags", "words", (),
        ("ACCRUE_ALWAYS", "CALCULATE_RUNNING", "DEPTH_OBLIVIOUS", "FAIR_TREE", "INCR_ONLY", "MAX_TRES", "MAX_TRES_GRES",
         "NO_FAIR_TREE", "NO_NORMAL_ALL", "NO_NORMAL_ASSOC", "NO_NORMAL_PART", "NO_NORMAL_QOS", "NO_NORMAL_TRES",
         "SMALL_RELATIVE_TO_TIME"),
    ),
    Setting("PriorityDecayHalfLife", "time", 7 * 86400.0),
    Setting("PriorityCalcPeriod", "time", 300.0),
    Setting(
        "PriorityUsageResetPeriod", "word", "NONE",
        ("NONE", "NOW", "DAILY", "WEEKLY", "MONTHLY", "QUARTERLY", "YEARLY"),
    ),
    Setting("FairShareDampeningFactor", "count", 1),
    Setting(
        "PreemptType", "word", "preempt/none", ("preempt/none", "preempt/partition_prio", "preempt/qos")
    ),
    Setting("PreemptMode", "words", ("OFF",), ("OFF", "CANCEL", "GANG", "REQUEUE", "SUSPEND", "WITHIN")),
    Setting("PreemptExemptTime", "time", 0.0),
    Setting("SchedulerType", "word", "sched/backfill", ("sched/backfill", "sched/builtin")),
    Setting(
        "SelectType", "word", "select/cons_tres",
        ("select/cons_tres", "select/cons_res", "select/linear", "select/cray_aries"),
    ),
    Setting(
        "SelectTypeParameters", "words", (),
        ("CR_CPU", "CR_CPU_Memory", "CR_Core", "CR_Core_Memory", "CR_Socket", "CR_Socket_Memory", "CR_Memory",
         "CR_Board", "CR_Board_Memory", "CR_LLN", "CR_Pack_Nodes", "CR_ONE_TASK_PER_CORE", "CR_CORE_DEFAULT_DIST_BLOCK",
         "OTHER_CONS_RES", "OTHER_CONS_TRES", "LL_SHARED_GRES"),
    ),
    Setting(
        "AccountingStorageEnforce", "words", (),
        ("associations", "limits", "nojobs", "nosteps", "qos", "safe", "wckeys", "all", "none", "0", "1"),
    ),
    Setting("EnforcePartLimits", "word", "NO", ("NO", "ALL", "ANY", "YES")),
    Setting("DefMemPerCPU", "memory", None),
    Setting("DefMemPerNode", "memory", None),
    Setting("MaxMemPerCPU", "memory", None),
    Setting("MaxMemPerNode", "memory", None),
    Setting("JobRequeue", "flag", True),
    Setting("KillWait", "seconds", 30.0),
    Setting("MessageTimeout", "seconds", 10.0),
    Setting("OverTimeLimit", "minutes", 0.0),
    Setting("ResvOverRun", "minutes", 0.0),
    Setting("ReturnToService", "count", 0),
    Setting("MaxArraySize", "count", 1001),
    Setting("MaxJobCount", "count", 10000),
    Setting("GresTypes", "words", ()),
    Setting("ClusterName", "word", ""),
)  # fmt: skip

#: Words of SchedulerParameters that the model reads, by name in lower case.
SCHEDULER_WORDS: dict[str, Setting] = _listed(
    Setting("bf_window", "minutes", 1440.0),
    Setting("bf_resolution", "seconds", 60.0),
    Setting("bf_interval", "seconds", 30.0),
    Setting("bf_max_job_test", "count", 500),
    Setting("bf_max_job_start", "count", 0),
    Setting("bf_max_job_user", "count", 0),
    Setting("bf_max_job_part", "count", 0),
    Setting("bf_max_job_assoc", "count", 0),
    Setting("bf_max_job_user_part", "count", 0),
    Setting("bf_max_job_array_resv", "count", 20),
    Setting("bf_min_age_reserve", "seconds", 0.0),
    Setting("bf_min_prio_reserve", "count", 0),
    Setting("bf_node_space_size", "count", None),
    Setting("bf_window_linear", "seconds", 0.0),
    Setting("bf_busy_nodes", "flag", False),
    Setting("bf_one_resv_per_job", "flag", False),
    Setting("default_queue_depth", "count", 100),
    Setting("partition_job_depth", "count", 0),
    Setting("sched_interval", "seconds", 60.0),
    Setting("batch_sched_delay", "seconds", 3.0),
    Setting("assoc_limit_stop", "flag", False),
    Setting("pack_serial_at_end", "flag", False),
    Setting("preempt_reorder_count", "count", 1),
    Setting("preempt_youngest_first", "flag", False),
    Setting("kill_invalid_depend", "flag", False),
)

_ELAPSED = "cuts passes short by elapsed time or load of the daemon; passes of the model take no time"
#: Words of SchedulerParameters that the model leaves out -> what they would change.
IGNORED_WORDS: dict[str, str] = {
    **dict.fromkeys(
        ("bf_continue", "bf_max_time", "bf_yield_interval", "bf_yield_sleep", "bf_yield_rpc_cnt", "max_sched_time",
         "sched_max_job_start", "max_rpc_cnt", "rpc_rate_limit", "defer", "defer_batch", "sched_min_interval",
         "build_queue_timeout", "max_switch_wait"),
        _ELAPSED,
    ),
    "bf_allow_magnetic_slot": "jobs could be planned in magnetic reservations",
    "bf_hetjob_immediate": "heterogeneous jobs, which the model does not have",
    "bf_hetjob_prio": "heterogeneous jobs, which the model does not have",
    "bf_job_part_count_reserve": "only so many jobs of a partition would get a plan",
    "bf_licenses": "jobs would wait for licences",
    "bf_running_job_reserve": "nodes of running jobs would be kept for them",
    "bf_topopt_enable": "plans would be moved for the sake of switches",
    "delay_boot": "nodes would be booted later",
    "enable_hetero_steps": "steps of jobs only: no start would change",
    "enable_user_top": "users could raise jobs to the top of their own",
    "extra_constraints": "nodes would be filtered by their extra data",
    "Ignore_NUMA": "cores of a socket would be taken in another order",
    "ignore_prefer_validation": "--prefer, which the model does not have",
    "max_array_tasks": "arrays could have fewer tasks",
    "max_depend_depth": "chains of dependencies could be cut",
    "max_script_size": "longer scripts would be refused at submission",
    "max_submit_line_size": "no start would change",
    "no_backup_scheduling": "no start would change while the primary controller runs",
    "no_env_cache": "no start would change",
    "nohold_on_prolog_fail": "jobs whose prolog fails would wait instead of being held",
    "preempt_send_user_signal": "preempted jobs would get a signal before",
    "preempt_strict_order": "no victim would be moved up for its nodes",
    "reduce_completing_frag": "fewer nodes would be closed while others complete",
    "requeue_setup_env_fail": "jobs would be requeued after a failed set-up",
    "salloc_wait_nodes": "salloc would wait for booted nodes",
    "sbatch_wait_nodes": "sbatch would wait for booted nodes",
    "spec_cores_first": "the first cores of a node would be kept for the system",
    "step_retry_count": "steps of jobs only: no start would change",
    "step_retry_time": "steps of jobs only: no start would change",
    "time_min_as_soft_limit": "jobs with --time-min would end at that time if others wait",
    "whole_hetjob": "heterogeneous jobs, which the model does not have",
    "whole_pack": "heterogeneous jobs, which the model does not have",
}  # fmt: skip

#: What keys of daemons, logs and plugins would change.
NOTHING = "no start would change: daemons, logs, security or steps"
_POWER = "nodes would be switched off while idle, and jobs would wait for their boot"
_SCRIPT = "jobs would start or end later by the time of a script"
#: Settings of slurm.conf that the model leaves out, and that do change starts -> what they would change.
IGNORED_SETTINGS: dict[str, str] = {
    "AccountingStorageTRES": "only cores, memory, nodes and GPUs are counted",
    "BatchStartTimeout": "jobs that do not launch would be requeued",
    "BurstBufferType": "jobs would wait for burst buffers",
    "CompleteWait": "jobs would wait while others complete",
    "CoreSpecPlugin": "cores of nodes would be kept for the system",
    "DependencyParameters": "dependencies of another cluster would be looked at",
    "DisableRootJobs": "jobs of root would be refused",
    "Epilog": _SCRIPT,
    "EpilogSlurmctld": _SCRIPT,
    "ExclusiveUser": "jobs of other users would be kept off a node",
    "FederationParameters": "jobs would go to other clusters",
    "GresParams": "GPUs would be chosen by other rules",
    "HealthCheckInterval": "nodes that fail a check would be drained; give failures as a trace",
    "HealthCheckProgram": "nodes that fail a check would be drained; give failures as a trace",
    "InactiveLimit": "interactive jobs without an answer would end",
    "JobDefaults": "jobs with GPUs would have other default cores and memory",
    "JobSubmitPlugins": "a plugin of the site may change jobs at submission",
    "KillOnBadExit": "steps of jobs would end earlier; run times are those of the log",
    "Licenses": "jobs would wait for licences",
    "MaxMemPerGPU": "jobs with GPUs would have a limit of memory",
    "MaxTasksPerNode": "jobs with more tasks on a node would be refused",
    "MCSPlugin": "jobs of other labels would be kept off a node",
    "MinJobAge": "dependencies on jobs that ended longer ago are still known here",
    "NodeFeaturesPlugins": "nodes would be booted for other features",
    "PrioritySiteFactorPlugin": "a plugin of the site may add to priorities",
    "Prolog": _SCRIPT,
    "PrologFlags": _SCRIPT,
    "PrologSlurmctld": _SCRIPT,
    "RequeueExit": "jobs with these exit codes would be requeued",
    "RequeueExitHold": "jobs with these exit codes would be requeued and held",
    "RoutePlugin": NOTHING,
    "SchedulerTimeSlice": "gang scheduling, which the model does not have",
    "ResumeRate": _POWER,
    "ResumeTimeout": _POWER,
    "ResumeProgram": _POWER,
    "SlurmctldParameters": "options of the daemon; power saving and reconfiguration only",
    "SlurmdParameters": "nodes with fewer resources than configured would be drained",
    "SlurmdTimeout": "nodes without an answer would go down; give failures as a trace",
    "SuspendExcNodes": _POWER,
    "SuspendExcParts": _POWER,
    "SuspendProgram": _POWER,
    "SuspendRate": _POWER,
    "SuspendTime": _POWER,
    "SuspendTimeout": _POWER,
    "TopologyParam": "nodes would be chosen by switches",
    "TopologyPlugin": "nodes would be chosen by switches",
    "TrackWCKey": "usage would be kept by WCKey, too",
    "UnkillableStepTimeout": "nodes with processes that cannot be killed would be drained",
    "UsePAM": NOTHING,
    "Waittime": NOTHING,
}
#: Settings that change no start.
_NO_START = """
AccountingStorageBackupHost AccountingStorageExternalHost AccountingStorageHost AccountingStorageLoc
AccountingStorageParameters AccountingStoragePass AccountingStoragePort AccountingStorageType AccountingStorageUser
AccountingStoreFlags AccountingStoreJobComment AcctGatherEnergyType AcctGatherFilesystemType AcctGatherInfinibandType
AcctGatherInterconnectType AcctGatherNodeFreq AcctGatherProfileType AllowSpecResourcesUsage AuthAltParameters
AuthAltTypes AuthInfo AuthType BackupAddr BackupController BcastExclude BcastParameters CacheGroups CheckpointType
CliFilterPlugins CommunicationParameters ControlAddr ControlMachine CpuFreqDef CpuFreqGovernors CredType CryptoType
DebugFlags DefaultStorageHost DefaultStorageLoc DefaultStoragePass DefaultStoragePort DefaultStorageType
DefaultStorageUser EioTimeout EnableControllers EpilogMsgTime ExtSensorsFreq ExtSensorsType FastSchedule FirstJobId
GetEnvTimeout GpuFreqDef GroupUpdateForce GroupUpdateTime HealthCheckNodeState InteractiveStepOptions
JobAcctGatherFrequency JobAcctGatherParams JobAcctGatherType JobCheckpointDir JobCompHost JobCompLoc JobCompParams
JobCompPass JobCompPort JobCompType JobCompUser JobContainerType JobCredentialPrivateKey
JobCredentialPublicCertificate JobFileAppend LaunchParameters LaunchType LogTimeFormat MailDomain MailProg MaxDBDMsgs
MaxJobId MaxNodeCount MaxStepCount MCSParameters MpiDefault MpiParams PlugStackConfig PowerParameters PowerPlugin
PreemptParameters PrEpParameters PrEpPlugins PriorityParameters PrioritySiteFactorParameters PrivateData ProctrackType
PrologEpilogTimeout PropagatePrioProcess PropagateResourceLimits PropagateResourceLimitsExcept RebootProgram
ReconfigFlags ResumeFailProgram ResvEpilog ResvProlog SallocDefaultCommand ScronParameters SlurmctldAddr
SlurmctldDebug SlurmctldHost SlurmctldLogFile SlurmctldPidFile SlurmctldPlugstack SlurmctldPort
SlurmctldPrimaryOffProg SlurmctldPrimaryOnProg SlurmctldSyslogDebug SlurmctldTimeout SlurmdAddr SlurmdDebug
SlurmdLogFile SlurmdPidFile SlurmdPort SlurmdSpoolDir SlurmdSyslogDebug SlurmdUser SlurmSchedLogFile
SlurmSchedLogLevel SlurmUser SrunEpilog SrunPortRange SrunProlog StateSaveLocation SwitchParameters SwitchType
TaskEpilog TaskPlugin TaskPluginParam TaskProlog TCPTimeout TmpFS TreeWidth UnkillableStepProgram VSizeFactor
X11Parameters
"""
IGNORED_SETTINGS |= {name: NOTHING for name in _NO_START.split() if name not in IGNORED_SETTINGS}

#: Keys of NodeName lines that the model reads, in lower case, and what the others would change.
NODE_KEYS = {
    name.lower(): name
    for name in ("NodeName", "CPUs", "Procs", "Sockets", "SocketsPerBoard", "Boards", "CoresPerSocket",
                 "ThreadsPerCore", "RealMemory", "Weight", "Feature", "Features", "Gres", "State")
}  # fmt: skip
IGNORED_NODE_KEYS: dict[str, str] = {
    **dict.fromkeys(("NodeAddr", "NodeHostname", "Port", "BcastAddr", "Reason", "CpuBind", "Comment"), NOTHING),
    "CoreSpecCount": "so many cores of the node would be kept for the system",
    "CpuSpecList": "these cores of the node would be kept for the system",
    "MemSpecLimit": "so much memory of the node would be kept for the system",
    "RestrictedCoresPerGPU": "some cores would be kept for jobs with GPUs",
    "TmpDisk": "jobs with --tmp would find the node too small",
    "TRESWeights": "no start would change",
}
#: Keys of PartitionName lines that the model reads.
PARTITION_KEYS = {
    name.lower(): name
    for name in ("PartitionName", "Nodes", "Default", "State", "MaxTime", "DefaultTime", "MinNodes", "MaxNodes",
                 "PriorityTier", "PriorityJobFactor", "Priority", "OverSubscribe", "Shared", "LLN", "PreemptMode",
                 "GraceTime", "AllowQos", "DenyQos", "AllowAccounts", "DenyAccounts", "QOS", "DefMemPerCPU",
                 "DefMemPerNode", "MaxMemPerCPU", "MaxMemPerNode", "MaxCPUsPerNode", "TRESBillingWeights",
                 "OverTimeLimit")
}  # fmt: skip
IGNORED_PARTITION_KEYS: dict[str, str] = {
    "AllocNodes": "jobs submitted from other nodes would be refused",
    "AllowGroups": "jobs of other groups would be refused",
    "Alternate": "jobs would go to another partition while this one is down",
    "CpuBind": NOTHING,
    "DefCpuPerGPU": "jobs with GPUs would have other default cores",
    "DefMemPerGPU": "jobs with GPUs would have other default memory",
    "DisableRootJobs": "jobs of root would be refused",
    "ExclusiveUser": "jobs of other users would be kept off a node",
    "Hidden": NOTHING,
    "JobDefaults": "jobs with GPUs would have other default cores and memory",
    "MaxCPUsPerSocket": "jobs would have a limit of cores on a socket",
    "PowerDownOnIdle": _POWER,
    "ReqResv": "jobs without a reservation would be refused",
    "ResumeTimeout": _POWER,
    "RootOnly": "jobs of users would be refused",
    "SelectTypeParameters": "cores would be handed out in other units in this partition",
    "SuspendTime": _POWER,
    "SuspendTimeout": _POWER,
}


@dataclass(frozen=True)
class IgnoredKey:
    """A key of slurm.conf or of its accounts that the model does not read.

    Attributes
    ----------
    name : str
        The key; of SchedulerParameters the word.
    value : str
        As it was written.
    where : str
        File and line.
    effect : str
        What it would change.
    unknown : bool
        Whether it is none that Slurm 22.05 is known to have.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.IgnoredKey("Licenses", "matlab:20", "slurm.conf, line 3", "jobs would wait for licences").unknown
    False
    """

    name: str
    value: str
    where: str
    effect: str
    unknown: bool = False


def ignored_key(name: str, value: str, where: str, table: Mapping[str, str], known: Mapping[str, object]) -> IgnoredKey:
    """The entry for a key that is not read, by the table of such keys; unknown ones get a suggestion.

    Examples
    --------
    >>> ignored_key("MaxTme", "60", "slurm.conf, line 3", IGNORED_PARTITION_KEYS, PARTITION_KEYS).effect
    "unknown key (did you mean 'MaxTime'?)"
    """
    folded = {key.lower(): key for key in table}
    found = folded.get(name.lower())
    if found is not None:
        return IgnoredKey(found, value, where, table[found])
    names = [*table, *(getattr(each, "name", each) for each in known.values())]
    return IgnoredKey(name, value, where, f"unknown key{checks.did_you_mean(name, map(str, names))}", unknown=True)
