"""Regions as JSON text: how a compiled program holds those that it launches.

In: a `Region`.  Out: text, and back.  A node is an object with its class and its fields in order; trailing fields that
have their default are left out.  Used by the driver and by ``libnomp.so``.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from nomp.region import (
    Assign,
    Binary,
    Break,
    Call,
    Case,
    Cast,
    Clauses,
    Const,
    Continue,
    Declare,
    For,
    Function,
    If,
    Load,
    Param,
    Place,
    Reduction,
    Region,
    Return,
    Script,
    Select,
    Switch,
    Unary,
    Var,
    While,
)

VERSION = 2
"""Of the text, and of what the nodes mean: a program holds what an older nomp wrote."""


def dumps(region: Region) -> str:
    """*region* as JSON text."""
    return json.dumps({"version": VERSION, "region": encode(region)}, separators=(",", ":"))


def loads(text: str) -> Region:
    """The region that `dumps` wrote; ValueError for another version."""
    data = json.loads(text)
    if data.get("version") != VERSION:
        raise ValueError(f"region of version {data.get('version')}, this nomp reads version {VERSION}")
    region = decode(data["region"])
    assert isinstance(region, Region)
    return region


def encode(node: Any) -> Any:
    """*node* (a node, a tuple, frozenset or mapping of nodes, or a plain value) as JSON data."""
    if isinstance(node, Place):
        return {"@": "Place", "a": list(node)}
    if dataclasses.is_dataclass(node):
        fields = list(dataclasses.fields(node))
        while fields and getattr(node, fields[-1].name) == fields[-1].default:
            del fields[-1]  # `decode` gets these from the class
        return {"@": type(node).__name__, "a": [encode(getattr(node, f.name)) for f in fields]}
    if isinstance(node, tuple):
        return [encode(item) for item in node]
    if isinstance(node, frozenset):
        return {"@": "frozenset", "a": [[encode(item) for item in sorted(node)]]}
    if isinstance(node, Mapping):
        return {"@": "dict", "a": [[[encode(key), encode(value)] for key, value in node.items()]]}
    return node


def decode(data: Any, nodes: Mapping[str, Any] | None = None) -> Any:
    """What `encode` made *data* of; *nodes* are the classes, by name, if they are not a region's."""
    if isinstance(data, dict):
        return (nodes or NODES)[data["@"]](*[decode(item, nodes) for item in data["a"]])
    if isinstance(data, list):
        return tuple(decode(item, nodes) for item in data)
    return data


NODES: dict[str, Any] = {
    node.__name__: node
    for node in (
        Place, Const, Var, Load, Unary, Binary, Cast, Select, Call, Assign, Declare, If, For, While, Case, Switch,
        Return, Break, Continue, Function, Param, Script, Reduction, Clauses, Region,
    )
}  # fmt: skip
