"""What a run gives for each word of the vocabulary."""
