"""Who holds what: partitions, federations and their fresh draws, augmentation."""
