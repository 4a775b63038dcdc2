"""How each distribution's files become examples: one small module per format."""
