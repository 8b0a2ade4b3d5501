"""Calls that type checkers must accept; the test beside runs them, too."""

from datetime import timedelta

import numpy as np

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
run.with_options(scheduler="fcfs", log=log, start_delay="5s").simulate()
fs.Simulation(log, torus, scheduler="easy", live=0, engine="core").run()
saved = fs.parse_policy("checkpointing", "young:cost=30,mtbf=56d")
fs.simulate(log, torus, checkpointing=saved, scheduler=fs.parse_policy("scheduler", "easy:order=shortest"))
fs.Fcfs("f1"), fs.Backfill(10, order="wfp3"), fs.ConservativeBackfill(order=fs.Key("estimate * size"))
fs.Fars(300, "sul"), fs.Fars("5m", fs.JobFailureRate(), spares=fs.Static(nodes=2), live=True)
fs.PredictedWindows("4h", victims="long"), fs.PredictedWindows(fs.Buckets("4h"), victims=fs.BigJobs(count=2))
fs.simulate_workflows(fs.Workflow([1, 2], [(0, 1, 4)]), fs.Resources(2), scheduler="heft")
fs.rerun(fs.simulate(log, torus), scheduler="fcfs")
fs.synthetic.nasa_like(10, rng=1).with_load(0.9, nodes=128).with_gap_factor(0.8)

# -- durations: numbers, text, timedelta and NumPy's, one by one and as columns

hour, minute = timedelta(hours=1), np.timedelta64(1, "m")
fs.Periodic("2h", cost=minute), fs.Young(cost=30, mtbf="56d"), fs.Daly(cost="30s", mtbf=hour)
fs.MaxAvailability("30s", hour, downtime=minute), fs.BeforeFailure("5m"), fs.RiskBased(hour, "5m"), fs.LongJobs("5m")
fs.PredictedWindows("4h", "long", interval=hour, cost=minute), fs.Buckets(hour)
fs.Requeue("tail", "30s"), fs.Hold(hour), fs.Defragment(cost="30s"), fs.LeastFailuresMigration(cost=hour)
fs.IntervalPredictor(0.7, 0.6, "5m"), fs.IntervalPredictor.from_pairs([0], [3], interval=minute, precision=0.7)
fs.PredictionTrace(["1h", "2h"], [0, 1]), fs.SharedOutputs("1m"), fs.External(at=["schedule", "tick"], tick="1h")
fs.Workload(["0s", "1h"], [hour, hour], [1, 2], estimate=np.array([7200, 7200]))
fs.FailureTrace([hour, hour], [0, 1], "2h", span="3d").window(hour, "2d").with_span(10 * hour).summary(burst_gap="5m")
fs.FailureTrace([1, 2], [0, 1], ["1h", "2h"]).align(log, begin=minute)
fs.Workflow(["1h", "5m"], [(0, 1, "30s")], submit="1h").with_cost([hour, hour]).with_transfer(["30s"])
fs.Workflow([["1h", "2h"], ["5m", "9m"]]), fs.Workflow([1, 2], [(0, 1, 4096)], transfer_unit="bytes")
sim = fs.Simulation(log, torus)
sim.run(until=minute)
sim.advance("1h")
synthetic = fs.synthetic
synthetic.exponential(9, rng=1, mean_gap="1m", mean_runtime=hour)
synthetic.exponential_failures(8, "10d", hour * 48, downtime=synthetic.LognormalTimes("6h", hour), rng=1)
synthetic.renewal_failures(8, "10d", "5d", synthetic.ExponentialTimes("1h"), uptimes="bathtub_per_node", rng=1)
synthetic.weibull_failures(8, "10d", 0.8, "5h", downtime=synthetic.WeibullTimes(1, minute), rng=1)
synthetic.random_dag(9, rng=1, cost=("1m", hour), transfer=("1s", 2)), synthetic.bench_dags(1, rng=1, unit="5m")

# -- options that are one of a few words

fs.EasyBackfill(reservation="fixed", repairs="unknown"), fs.Backfill("unlimited"), fs.Balancing("max", "bases")
fs.Fars("5m", "sul", suspicious="ignore", queue_cost="mean", residual="difference"), fs.CurveBestFit("hilbert")
fs.simulate(log, torus, estimates="actual", overrun="kill", oversized="drop", engine="reference")
fs.simulate(log, torus, estimates=2.0)
fs.simulate_workflows(fs.Workflow([1]), fs.Resources(2), transfers="in_turn", outputs=fs.SharedOutputs(1))
failures.map_nodes(8, "permute", rng=1), failures.map_nodes(8, [1])
