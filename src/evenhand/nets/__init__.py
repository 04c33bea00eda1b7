"""Networks: each gives outputs and a representation, and takes its random numbers from outside.

`NETS` lists them, `NetSpec("mlp", widths=(100, 64))` says which one is meant, and `evenhand.nets.wrap.as_net`
takes a module of one's own. Neither the table nor a spec loads torch; building a network does.
"""

from evenhand.nets.registry import NETS, NetKind, NetSpec

__all__ = ["NETS", "NetKind", "NetSpec"]
