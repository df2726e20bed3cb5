"""Schedules for whole domains, found by scripts under their module names."""
