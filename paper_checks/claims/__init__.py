"""What the papers claim, a folder per paper, and the checkers that decide it."""
