"""What jobs ask a SLURM site for."""

import math
from typing import Any

from isogloss.runs.place import Place
from isogloss.workers import NODE_VARIABLE, Resources


def sbatch_parameters(place: Place, resources: Resources, processes: int | None = None) -> dict[str, Any]:
    """What a job asks for, as submitit names it.

    Args:
        place: the site.
        resources: what a process needs, or all processes of one fit.
        processes: how many a job has. By default several GPUs have a process each, which fit together, and a GPU of
            which a share is needed has as many as there are shares.
    """
    tasks = processes or _processes(resources)
    needy = 1 if fits_together(resources) else tasks
    cores = max(1, math.ceil(resources.cpus * needy / tasks))
    megabytes = math.ceil(resources.memory * needy / 2**20)
    exports = (f"export OMP_NUM_THREADS=${{OMP_NUM_THREADS:-{cores}}}", f"export {NODE_VARIABLE}=$SLURMD_NODENAME")
    site = {key: getattr(place.slurm, key) for key in ("account", "qos", "constraint")}
    return {
        **{key: value for key, value in site.items() if value},
        **({"partition": place.partition} if place.partition else {}),
        **({"gpus_per_node": math.ceil(resources.gpus)} if resources.gpus else {}),
        **({"mem": f"{megabytes}M"} if megabytes else {}),
        # None leaves them to the site; submitit would say five minutes, and its name as a key to charge.
        "time": math.ceil(resources.hours * 60) or None,
        "wckey": None,
        "nodes": 1,
        "ntasks_per_node": tasks,
        "cpus_per_task": cores,
        # Since SLURM 22.05 the processes of a job do not get its cores unless they ask.
        "srun_args": [f"--cpus-per-task={cores}"],
        "setup": [*place.slurm.setup, *exports],
    }


def fits_together(resources: Resources) -> bool:
    """Whether the processes of a job fit one system, on a GPU each."""
    return (resources.gpus or 0) > 1


def _processes(resources: Resources) -> int:
    gpus = resources.gpus or 1
    return max(int(gpus), int(1 / gpus))
