"""What all models that are fine-tuned have in common: where they come from, how they learn, what is kept of it."""
