"""Read, check, write and import the predictions of systems."""
