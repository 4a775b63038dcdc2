"""Results of systems: `SystemResult`, its readers, averages and views."""
