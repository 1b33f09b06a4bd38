"""Cases as data: one YAML file is one case."""
