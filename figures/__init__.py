"""What it looks like: one file per figure or table, or per drawing that several share."""
