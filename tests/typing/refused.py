"""Calls that type checkers must refuse: each line says with what kind of error; nothing here is run."""

import faultsim as fs

log = fs.Workload([0, 60], [100, 30], [4, 2])
torus = fs.Torus(2, 2, 2)

fs.simulate(log, torus, scheduler="esay")  # E: arg-type
fs.simulate(log, torus, placement="mpf")  # E: arg-type
fs.simulate(log, torus, migration="defrag")  # E: arg-type
fs.simulate(log, torus, recovery="requeued")  # E: arg-type
fs.simulate(log, torus, predictor="perfct")  # E: arg-type
fs.simulate(log, torus, checkpointing="young")  # E: arg-type
fs.simulate(log, torus, scheduler=fs.FirstFit())  # E: arg-type
fs.Run(log, torus, scheduler="esay")  # E: arg-type
fs.Run(log, torus, rescheduling="fars")  # E: arg-type
fs.simulate(log, torus, schedular="easy")  # E: call-arg
fs.Simulation(log, torus, scheduler="esay")  # E: arg-type
fs.Simulation(log, torus, schedular="easy")  # E: call-arg
run = fs.Run(log, torus)
run.with_options(scheduler="esay")  # E: arg-type
run.with_options(schedular="easy")  # E: call-arg
fs.EasyBackfill(order="shortst")  # E: arg-type
fs.Fcfs("shortst")  # E: arg-type
fs.Fars(300, "slu")  # E: arg-type
fs.Fars(300, "sul", spares="dynamik")  # E: arg-type
fs.PredictedWindows("4h", victims="longs")  # E: arg-type
fs.simulate_workflows(fs.Workflow([1]), fs.Resources(2), scheduler="hefty")  # E: arg-type
fs.rerun(fs.simulate(log, torus), scheduler="esay")  # E: arg-type
fs.simulate(log, torus, placement=fs.parse_policy("scheduler", "easy"))  # E: arg-type
fs.synthetic.nasa_like(10, 1)  # E: call-arg
fs.Confidence(a=0.1)  # E: call-arg
log.scale_runtime(2)  # E: attr-defined
fs.Periodic([1], 2)  # E: arg-type
fs.Requeue("tial")  # E: arg-type
fs.Defragment(when="waitin")  # E: arg-type
fs.EasyBackfill(reservation="fix")  # E: arg-type
fs.ConservativeBackfill(repairs="unknwon")  # E: arg-type
fs.Backfill("unlimitd")  # E: arg-type
fs.External(at=["schedule", "tik"])  # E: list-item
fs.FirstFit(box_order="base")  # E: arg-type
fs.Balancing(rule="min")  # E: arg-type
fs.CurveBestFit("peano")  # E: arg-type
fs.Flaw(across="up")  # E: arg-type
fs.Fars("5m", "sul", residual="print")  # E: arg-type
fs.simulate(log, torus, estimates="actul")  # E: arg-type
fs.simulate(log, torus, overrun="killed")  # E: arg-type
fs.simulate(log, torus, engine="cor")  # E: arg-type
fs.simulate(log, torus, start_delay=[5])  # E: arg-type
fs.Workflow([1], transfer_unit="bits")  # E: arg-type
fs.FailureTrace([1], [0], span=log)  # E: arg-type
fs.synthetic.exponential_failures(8, [1], 2, rng=1)  # E: arg-type
fs.synthetic.renewal_failures(8, 1, 2, 3, uptimes="bathtub", rng=1)  # E: arg-type
