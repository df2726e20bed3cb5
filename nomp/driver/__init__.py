"""The program ``nomp``: one module a verb (`cli` lists them), and the stages of ``nomp cc``."""
