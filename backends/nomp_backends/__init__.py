"""The backends that come with nomp, each a module behind the entry-point group ``nomp.backends``."""
