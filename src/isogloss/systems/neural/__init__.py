"""Shared parts of all fine-tuned models: adapters, training, checkpoints and stored weights."""
