"""Running the claims, in parallel, and telling what came out: reports, planted errors."""
