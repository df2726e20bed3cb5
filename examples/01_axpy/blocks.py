import loopy as lp


def split(knl, context, size):
    """Give every group of work items *size* neighbouring iterations."""
    threads = None if context["device::type"] == "cpu" else "l.0"
    return lp.split_iname(knl, "i", size, outer_tag="g.0", inner_tag=threads)
