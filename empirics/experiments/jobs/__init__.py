"""What a cell can ask for: one file per kind of run, each declared by ``@job`` with a name and a version."""
