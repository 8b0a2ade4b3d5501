"""Calls that type checkers must accept; the test beside runs them, too."""

import faultsim as fs

log = fs.Workload([0, 60], [100, 30], [4, 2])
torus = fs.Torus(2, 2, 2)
failures = fs.FailureTrace([60], [0], 10, span="1h")

fs.simulate(log, torus, scheduler="easy", placement="mfp", migration="defragment")
fs.simulate(log, torus, scheduler=fs.EasyBackfill(order="shortest"), placement=fs.MaxFreePartition())
fs.simulate(log, fs.Cluster(8), scheduler="fcfs", recovery="hold", failures=failures, start_delay="5s")
fs.simulate(log, torus, placement="tie-breaking", predictor="perfect", failures=failures, checkpointing="none")
run = fs.Run(log, torus, scheduler="conservative", migration=None, rescheduling="none")
name: str = run.scheduler.name
saved = fs.parse_policy("checkpointing", "young:cost=30,mtbf=56d")
fs.simulate(log, torus, checkpointing=saved, scheduler=fs.parse_policy("scheduler", "easy:order=shortest"))
fs.Fcfs("f1"), fs.Backfill(10, order="wfp3"), fs.ConservativeBackfill(order=fs.Key("estimate * size"))
fs.Fars(300, "sul"), fs.Fars("5m", fs.JobFailureRate(), spares=fs.Static(nodes=2), live=True)
fs.PredictedWindows("4h", victims="long"), fs.PredictedWindows(fs.Buckets("4h"), victims=fs.BigJobs(count=2))
fs.simulate_workflows(fs.Workflow([1, 2], [(0, 1, 4)]), fs.Resources(2), scheduler="heft")
fs.rerun(fs.simulate(log, torus), scheduler="fcfs")
fs.synthetic.nasa_like(10, rng=1).with_load(0.9, nodes=128).with_gap_factor(0.8)
