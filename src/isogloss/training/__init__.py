"""Training: recipes, regimes, batches, the loop, and the record of checkpoints.

This package does not depend on a model family: `isogloss.systems` turns a task into a `TrainingObjective`, and the loop
trains on it. Code that runs on an accelerator needs only numpy, torch and accelerate, because those machines are often
bare.
"""
