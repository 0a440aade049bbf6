"""Problems that know their constants: smoothness, strong convexity, exact local minimisers, exact population risk."""
