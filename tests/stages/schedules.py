import loopy as lp


def blocks(knl, context):
    """256 items a group, one iteration an item."""
    return lp.split_iname(knl, "i", 256, outer_tag="g.0", inner_tag="l.0")


def elements(knl, context):
    """One element a group; a row and a column of items."""
    return lp.tag_inames(knl, {"e": "g.0", "i": "l.0", "j": "l.1", "i_": "l.0", "j_": "l.1"})
