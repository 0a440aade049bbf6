"""Quadratic federations under local SGD: instances, fast exact moments, and the same again in plain arithmetic."""
