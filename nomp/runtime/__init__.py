"""The runtime: from a compiled region to work on a device."""
