import numpy as np, warnings, sys, time, signal
sys.path.insert(0, 'tests')  # from the top of the clone: python fuzz_support.py SEED SECONDS
import kernsel as ks
from kernsel.kernels import *
from kernsel.support import SupportVectors
import reference
class T(Exception): pass
def h(*a): raise T
signal.signal(signal.SIGALRM,h)
seed0=int(sys.argv[1]); t0=time.time(); count=0; bad=0
EPS=2.2e-16
for seed in range(seed0,seed0+100000):
  if time.time()-t0>float(sys.argv[2]): break
  rng=np.random.default_rng(seed)
  n=int(rng.choice([1,2,3,7,20,64,65,128,257,300,513,700]))
  d=int(rng.integers(1,5)); X=rng.standard_normal((n,d))
  if rng.random()<.3: X=np.round(X)
  y=np.sin(2*X[:,0])+rng.choice([0,.1,1])*rng.standard_normal(n)
  if rng.random()<.2: y=np.round(y)
  y=y*10.0**rng.integers(-3,4)
  u=np.abs(y).max()+1e-12
  kern=[RBF(1.0),RBF(.2),Exponential(1.0),Linear(),Polynomial(3,1.0),RBF(1.0)+WhiteKernel(.1),1e-6*RBF(1.0),1e6*RBF(.5), ConstantKernel(1.0), Linear()+ConstantKernel(3.0)][rng.integers(10)]
  C=10.0**rng.uniform(-3,4)*u
  Cs=np.full(n,C)
  if rng.random()<.4: Cs=Cs*np.where(rng.random(n)<.2,0,rng.uniform(.01,3,n))
  eps=rng.choice([0,.01,.1,.5,2])*u
  ic=bool(rng.random()<.6); cache=float(rng.choice([500.,.1,1.])); tol=float(rng.choice([1e-3,1e-4,1e-6,1e-8])); sh=bool(rng.random()<.7)
  st=None if rng.random()<.5 else rng.standard_normal(n)*C*10.0**rng.integers(-3,3)
  s=SupportVectors(kern,X,cache); K=ks.gram(kern,X)
  tag=(seed,n,str(kern),f"C/u={C/u:.2g}",f"eps/u={eps/u}",ic,cache,tol,sh,st is not None)
  print("\r", seed, end="", file=sys.stderr, flush=True)  # the last one before a crash
  signal.setitimer(signal.ITIMER_REAL,2.0); t=time.time()
  try: r=s.solve(y,Cs,eps,fit_intercept=ic,tol=tol,shrinking=sh,start=st); signal.setitimer(signal.ITIMER_REAL,0)
  except T: print("TIMEOUT",*tag,flush=True); bad+=1; continue
  except Exception as e: signal.setitimer(signal.ITIMER_REAL,0); print("ERR",e,*tag,flush=True); continue
  count+=1; a,b=r.a,r.intercept
  p,dd=reference.support_objectives(K,y,Cs,eps,a,b)
  f=np.abs(K)@np.abs(a); slack=8*EPS*np.sqrt(n)*np.sum((np.abs(a)+Cs)*(f+np.abs(y)+abs(b)))
  msg=[]
  if (np.abs(a)>Cs).any(): msg.append(f"bounds {np.max(np.abs(a)-Cs)}")
  if ic and abs(a.sum())>4*n*EPS*np.abs(a).sum(): msg.append(f"sum {a.sum()/np.abs(a).sum():.2g}")
  if abs(r.objective-p)>1e-9*p+slack: msg.append(f"obj {r.objective} {p} slack {slack:.2g}")
  if abs(r.gap-(p-dd))>1e-6*abs(p-dd)+slack: msg.append(f"gap {r.gap} {p-dd} slack {slack:.2g}")
  if not r.converged and r.gap>slack+1e-9*p: msg.append(f"notconv {r.gap/p:.2g} it {r.iterations}")
  if r.indefinite: msg.append("indef")
  tiny=(a!=0)&(np.abs(a)<1e-13*np.abs(a).max()) if n and np.abs(a).max()>0 else np.array([])
  if tiny.any(): msg.append(f"tiny {tiny.sum()} {np.abs(a[tiny]).min()/np.abs(a).max():.1e}")
  if time.time()-t>1: msg.append(f"slow {time.time()-t:.2f} it {r.iterations}")
  if msg: print(*msg,*tag,flush=True); bad+=1
print(count,"done",bad,"bad")
