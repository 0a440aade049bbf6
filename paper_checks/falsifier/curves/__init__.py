"""Smooth functions of one variable, convex or not, in closed form: runs without noise, every cohort followed."""
