"""The explorer: every bound in one HTML page that evaluates, draws and compares without a server."""
