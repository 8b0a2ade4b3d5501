"""A small file for every entry point that reads, as it should be."""

import json
from pathlib import Path

import faultsim as fs


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
        "anything": "Workload csv",
        "detect log": "Workload sacct",
        "detect failures": "FailureTrace fta",
    }
    return found | {name: found[other] for name, other in first_lines.items()}
