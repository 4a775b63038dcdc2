"""How a system learns: recipes, regimes, batches, the loop, and the record of its checkpoints.

Nothing here knows a model family: `isogloss.systems` says how a task is put to a model (a `TrainingObjective`), and the
loop teaches it. What runs on an accelerator needs numpy, torch and accelerate alone: such machines are often bare.
"""
