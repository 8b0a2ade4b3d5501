"""A small file for every entry point that reads, as it should be."""

import json
from pathlib import Path

import faultsim as fs

SLURM = Path(__file__).parents[1] / "readers" / "slurm"


def seeds(folder: Path) -> dict[str, bytes]:
    """Entry point -> a small file of it that is as it should be."""
    log = fs.Workload(submit=[0, 60.5], runtime=[100, 30], size=[4, 1], user=[1, 2], estimate=[200, -1])
    log.write_swf(folder / "log.swf")
    log.write_csv(folder / "log.csv")
    log.write_parquet(folder / "log.parquet")
    trace = fs.FailureTrace([60, 90.5], [0, 2], [0, 30], span=3600)
    trace.write_csv(folder / "trace.csv")
    fs.simulate(log, fs.Cluster(4), failures=trace, record=True).save(folder / "run.npz")
    chain = fs.Workflow([5, 3], edges=[(0, 1, 2.0)])
    fs.simulate_workflows([chain], fs.Resources(2)).save(folder / "chain.npz")
    sweep = fs.Sweep(fs.Run(log, fs.Cluster(4)), {"runtime_factor": [1.0, 2.0]}, name="two")
    sweep.run(folder / "sweep.db", workers=1)
    examples = {
        "Workload sacct": b"JobID|User|Submit|Start|End|Elapsed|Timelimit|NNodes|State\n"
        b"7|ann|2024-01-31T12:00:00|2024-01-31T12:05:00|2024-01-31T12:15:00|00:10:00|1-00:00:00|4|COMPLETED\n"
        b"8+1|bob|2024-01-31T12:00:30|2024-01-31T12:05:00|2024-01-31T12:15:00|00:10:00|UNLIMITED|1|PENDING\n",
        "Workload sacct json": json.dumps(
            {
                "jobs": [
                    {
                        "job_id": 7,
                        "time": {
                            "submission": 1709280000,
                            "start": 1709280005,
                            "end": 1709280605,
                            "elapsed": 600,
                            "limit": {"set": True, "infinite": False, "number": 60},
                        },
                        "allocation_nodes": 2,
                        "state": {"current": [state]},
                        "nodes": "n[1-2]",
                        "tres": {"allocated": [{"type": "gres", "name": "gpu", "count": 4}]},
                    }
                    for state in ("NODE_FAIL", "COMPLETED")
                ]
            }
        ).encode(),
        "Workload sacct text": b"JobID|JobName|User|Submit|Start|End|Elapsed|TimelimitRaw|AllocTRES|NodeList|State|\n"
        b"7|a|b|ann|2024-01-31T12:00:00|2024-01-31T12:05:00|2024-01-31T12:06:00|60|10|cpu=8,mem=4G,node=2|n[1-2]|"
        b"NODE_FAIL|\n"
        b"7|x\ny|ann|2024-01-31T12:06:00|2024-01-31T12:07:00|2024-01-31T12:09:00|120|10|cpu=8,gres/gpu:a=1,node=2|n3|"
        b"COMPLETED|\n"
        b"8|x|ann|2024-01-31T12:06:00|2024-01-31T12:07:00|2024-01-31T12:08:00|60|UNLIMITED|node=1|n4|RESIZING|\n"
        b"8|x|ann|2024-01-31T12:06:00|2024-01-31T12:08:00|2024-01-31T12:09:00|60|UNLIMITED|node=1.50K|n4|TIMEOUT+|\n",
        "Workload table": b'submit;runtime;size;id;user;estimate;start\n2024-01-31T12:00:00;90;4;7;"ann";1h30m;\n'
        b'2024-01-31T12:00:05;10s;1;;"b;ob ""x""";UNLIMITED;2024-01-31T12:01:00\n2024-01-31;NULL;2;8.0;cy;inf;\n',
        "FailureTrace table": b"host;start;end;cause\nn1;2024-01-31 10:00;2024-01-31 11:00;dimm\n"
        b'"n2";2024-01-31 10:00;;net\n7;2024-02-01;2024-02-01T00:00:30;\n',
        "Workload pbs": b"07/01/2024 10:00:00;Q;1.srv;queue=batch\n"
        b"07/01/2024 10:00:05;S;1.srv;user=u1 start=1719820803 exec_host=n1/0*8+n2/0*8\n"
        b"07/01/2024 10:01:05;R;1.srv;user=u1 start=1719820803 end=1719820860 exec_host=n1/0-7+n2/0\n"
        b'07/01/2024 10:10:00;E;1.srv;user=u1 queue=batch account="x y" ctime=1719820800 qtime=1719820800 '
        b"start=1719820903 end=1719821400 exec_host=n1/0*8+n2/0*8 Resource_List.nodect=2 Resource_List.ncpus=16 "
        b"Resource_List.select=2:ncpus=8:ngpus=1 Resource_List.mem=4gb Resource_List.walltime=01:00:00 Exit_status=0\n",
        "Workload lsf": b'"JOB_FINISH" "10.1" 1719821400 7 1000 0 16 1719820800 0 0 1719820803 "ann" "normal" "" "" "" '
        b'"login" "/home" "" "" "" "" 1 "n9" 2 "n1" "8*n2" 64 60.0 "a ""b""" "sleep\n597" '
        + b"-1 "
        * 19
        + b'"" "project" 0 16 "" "" 3 0 0 "" "" "" "" 0 "" 0 "" -1 "" "" "" "" -1 "" "" '
        b'0 "" 0 "text" 1 "k" "v" 0 0 3600\n',
        "Workload sge": b"all.q:n1:users:ann:job:7:sge:0:1719820800:1719820803:1719821400:25:0:597:"
        + b"0:" * 20
        + b"16:3:1:1:0:-l h_rt=3600,h_vmem=2G -pe mpi 16:0:NONE:0\n"
        b"all.q:n1:users:ann:job:7:sge:0:1719820800000:1719821503000:1719821600000:0:0:97:"
        + b"0:" * 17
        + b"p:d:mpi:16:3:1:1:0:-l h_rt=3600:0:NONE:0\n",
        "FailureTrace events": b"Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n"
        b"c1|n001|2024-03-01T08:00:00|2024-03-01T10:30:00|DOWN*|Not|responding|slurm(500)\n"
        b"c1|n001|2024-03-01T10:30:00|2024-03-01T11:30:00|IDLE+DRAIN|bad dimm|root(0)\n"
        b"c1|n002|2024-03-02T08:00:00|Unknown|DRAIN|bad dimm|root(0)\n"
        b"c1||2024-03-03T00:00:00|2024-03-03T01:00:00||Cluster Registered TRES|\n",
        "FailureTrace lanl": b"System,nodenumz,Prob Started (mm/dd/yy hh:mm),Prob Fixed (mm/dd/yy hh:mm),Down Time\n"
        b"2,0,6/21/2005 10:54,6/21/2005 11:00,6\n2,5,6/22/2005 0:30,6/22/2005 1:30,60\n",
        "FailureTrace fta": b"0\t0\t7\t5\tsite/node1\t1\t1115811139\t1115820000\tNULL\n"
        b"1\t0\t7\t5\tsite/node1\t0\t1115820000\t1115823600\tNULL\n",
        "FailureTrace ras": b"2005-06-05-01.55.06.697467 R11-M0-NB-C:J07-U11 RAS KERNEL FATAL rts panic!\n"
        b"2005-06-05-01.56.00.000000 R11-M0-N0-C:J02-U01 RAS KERNEL FATAL rts internal error\n",
        "FailureTrace titan": b"SN,location,insert,remove,duration,out,event\n"
        b"1,c1-0c0s0n2,2014-01-21 00:00:00,2014-02-01 10:00:00,986400,TRUE,DBE\n",
        "FailureTrace stepfun": json.dumps(
            [
                {"node_id": "a", "event_time": day, "event_type": kind, "fault_type": {"Level": "Hardware Failure"}}
                for day, kind in ((0.5, "fault_start"), (0.75, "fault_end"))
            ]
        ).encode(),
        "Workflow dax": b'<adag xmlns="x"><job id="A" runtime="3.5"><uses file="f" link="output" size="1000"/></job>'
        b'<job id="B" runtime="4"><uses file="f" link="input" size="1000"/></job>'
        b'<child ref="B"><parent ref="A"/></child></adag>',
        "Workflow stg": b"2\n0 0 0\n1 3 1 0\n2 4 1 1\n3 0 1 2\n# CP Length : 7\n",
        "Workflow wfcommons": json.dumps(
            {
                "name": "two",
                "schemaVersion": "1.5",
                "workflow": {
                    "specification": {
                        "tasks": [
                            {"id": "a", "parents": [], "children": ["b"], "inputFiles": [], "outputFiles": ["f"]},
                            {"id": "b", "parents": ["a"], "children": [], "inputFiles": ["f"], "outputFiles": []},
                        ],
                        "files": [{"id": "f", "sizeInBytes": 1000}],
                    },
                    "execution": {"tasks": [{"id": name, "runtimeInSeconds": 3.5} for name in "ab"]},
                },
            }
        ).encode(),
        "sweep file": b"replicates = 2\nwarmup = 0.1\n[base]\nlog = { synthetic = 'nasa_like', jobs = 100 }\n"
        b"machine = 'torus:4x4x8'\n[grid]\nscheduler = ['fcfs', 'easy:reservation=fixed']\nload = [0.8, 1.0]\n"
        b"[zip]\nstart_delay = [0, '2m']\nseed = [1, 2]\n",
    }
    examples |= {
        "served": b'{"request": "START", "id": 7, "nodes": [0, 1]}',
        "policy": b"checkpointing young:cost=30,mtbf=56d",
        "key": b"-size * (now - submit) / max(estimate, 1)",
        "site": b"NODELIST CPUS MEMORY GRES FEATURES PARTITION\nn[1-4] 32 191000 (null) ib,skylake compute*\n"
        b"g[1,3] 40 191000 gpu:v100:2(S:0-1) v100 gpu\n",
        "slurmctld log": (SLURM / "slurmctld.log").read_bytes(),
        "slurm conf": b"PriorityType=priority/multifactor\nPriorityWeightAge=1000 # of age\nPriorityMaxAge=1-0\n"
        b"PriorityWeightTRES=CPU=1,Mem=2\n"
        b"NodeName=DEFAULT Sockets=2 CoresPerSocket=8 \\\n RealMemory=64000\nNodeName=n[1-6,08] Gres=gpu:a:4\n"
        b"NodeSet=s Nodes=n1\nPartitionName=batch Nodes=s,n2 TRESBillingWeights=CPU=1.0,Mem=0.25G "
        b"PriorityJobFactor=2\n",
        "slurm site": b"ClusterName=c\nPriorityMaxAge=1-0 # of age\nSchedulerParameters=bf_window=4320,bf_busy_nodes\n"
        b"PriorityWeightTRES=CPU=1,Mem=2\nNodeName=DEFAULT Sockets=2 CoresPerSocket=8 \\\n RealMemory=64000\n"
        b"NodeName=n[1-6,08] Gres=gpu:a:4 Feature=a,b\nNodeSet=s Nodes=n1\nDownNodes=n2 State=DOWN\n"
        b"PartitionName=batch Nodes=s,n2 MaxTime=1-0 OverSubscribe=EXCLUSIVE TRESBillingWeights=CPU=1.0 LLN=YES\n",
        "slurm site accounts": b"add qos high priority=9 GrpTRES=cpu=4,mem=2G MaxWall=1-0 preempt=normal\n"
        b"add account a parent=root fairshare=4\nadd user u,v account=a fairshare=parent\n"
        b"modify user where name=u account=a set qos+=high MaxJobs=-1\ndelete user name=v\n",
        "squeue": b"JOBID|STATE|PARTITION|USER|NODES|CPUS|MIN_MEMORY|TIME_LIMIT|TIME|SUBMIT_TIME|PRIORITY|"
        b"TRES_PER_NODE|REASON\n"
        b"7|RUNNING|batch|ann|1|8|2000M|1:00:00|12:30|2026-12-01T00:00:00|900|gres/gpu:a:2|None\n"
        b"8|PENDING|batch|bob|2-4|16|4G|2-00:00:00|0:00|2026-12-01T00:10:00|700|N/A|(Resources)\n",
        "slurm site gres": b"AutoDetect=off\nNodeName=n1 Name=gpu Type=a File=/dev/x[0-3]\nName=mps Count=2\n",
        "slurm accounts": b"# dump\nCluster - 'c':Fairshare=1\nParent - 'root'\nUser - 'root':Fairshare=1\n"
        b"Account - 'a':Description='x:y':Fairshare=30:Priority=5\nParent - 'a'\nUser - 'u':Fairshare=parent\n",
        "slurm requests": b"JobIDRaw|User|Account|Partition|QOS|Submit|Eligible|Start|End|State|ReqNodes|ReqTRES|"
        b"Timelimit|SubmitLine\n7|ann|a|b|q|2026-12-01T00:00:00|2026-12-01T00:00:00|Unknown|Unknown|PENDING|2|"
        b"cpu=8,mem=4G,node=2|1-00:30:00|sbatch -N 2-4 -p b,c --nice=5 --exclusive --wrap 'exec sleep 8'\n",
        "topology": b"- topology: t\n  torus3d:\n  - name: a\n    dims: [1, 2, 4]\n    nodes: 'n[0-7]'\n"
        b"    placements:\n    - {dims: [1, 1, 2], spacing: [1, 1, 2]}\n- topology: other\n  flat: true\n",
    }
    files = {
        "Workload swf": "log.swf",
        "Workload csv": "log.csv",
        "Workload parquet": "log.parquet",
        "FailureTrace csv": "trace.csv",
        "result": "run.npz",
        "workflow result": "chain.npz",
        "table": "sweep.db",
        "status": "sweep.db",
        "resume": "sweep.db",
        "merge": "sweep.db",
    }
    found = examples | {name: (folder / file).read_bytes() for name, file in files.items()}
    first_lines = {
        "what is": "Workload csv",
        "read": "Workload sacct text",
        "detect log": "Workload sacct",
        "detect failures": "FailureTrace fta",
    }
    return found | {name: found[other] for name, other in first_lines.items()}
