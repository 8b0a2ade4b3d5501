import sys,time; sys.path.insert(0,'benchmarks')
import numpy as np, faultsim as fs, pathlib, tempfile
import faultsim.simulation.slurm_run as sr
from faultsim._core.slurm.controller import Controller as C
from tests.simulation.test_slurm_runs import conf_of, jobs, trace
R=sr.Controller
def run(ctl,*a,**k):
    sr.Controller=ctl; t=time.process_time()
    r=fs.simulate(*a,**k); return r,time.process_time()-t
bad=0;n=0
options=("","SelectTypeParameters=CR_Core","SchedulerParameters=bf_window=60,bf_busy_nodes","SchedulerParameters=bf_max_job_user=5,default_queue_depth=4","SelectTypeParameters=CR_Core,CR_LLN","PriorityType=priority/basic")
t0=time.time()
seed=0
while time.time()-t0<35:
    d=pathlib.Path(tempfile.mkdtemp()); conf=conf_of(d,more=options[seed%6]); log=jobs(seed)
    try:
        a,_=run(C,log,conf.site,scheduler=conf.scheduler,failures=trace(seed),record=True)
        b,_=run(R,log,conf.site,scheduler=conf.scheduler,failures=trace(seed),record=True)
        ok=all(np.array_equal(a.jobs[x],b.jobs[x]) for x in("start","finish","restarts"))
    except Exception as e: ok=False; print(seed,options[seed%6],repr(e)[:200])
    n+=1
    if not ok: bad+=1; print("differs",seed,options[seed%6])
    seed+=1
print(n,"sites",bad,"differ",flush=True)
from run_site import week,DATA
u=DATA/'slurm/ub-hpc'
conf=fs.read_slurm_conf(u/'slurm.conf',[u/'accounts.sacctmgr'],u/'gres.conf')
for k in (300,800):
    r,t=run(C,week().head(k),conf.site,scheduler=conf.scheduler,oversized='drop'); print(k,t,r.metrics['mean_wait'],flush=True)
