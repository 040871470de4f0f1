"""Generate the code of operations that create chat messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from registry.mapping.generated.source import Source, Value
from registry.mapping.operations.base import options
from registry.mapping.operations.chat import ROLES

__all__ = ["EMITTERS"]


def _messages(source: Source, value: Value, argument: Any) -> Value:
    chosen = options(argument, role="role", content="content", roles={})
    user, role, content = (source.bind(word) for word in ("user", "role", "content"))
    result, name = source.assign("[]", "list"), value.name
    with source.block(f"if type({name}) is str:"):
        source.line(f"{result.name}.append({{{role}: {user}, {content}: {name}}})")
    with source.block("else:"):
        items = source.expect(value, "list")
        with source.loop(items) as (item, _):
            message = _message(source, source.expect(item, "dict").name, chosen, role, content)
            source.line(f"{result.name}.append({message})")
    return result


def _message(source: Source, item: str, chosen: dict[str, Any], role: str, content: str) -> str:
    """Return the Python expression of the message of an item."""
    names = source.bind({**{name: name for name in ROLES}, **chosen["roles"]})
    own_role, own_content = source.bind(chosen["role"]), source.bind(chosen["content"])
    # Raises for a role that is unknown or no str.
    made = f"{role}: {names}[{item}[{own_role}]], {content}: {item}.get({own_content})"
    rest = f"{{k: x for k, x in {item}.items() if k != {own_role} and k != {own_content}}}"
    is_plain = f"len({item}) == 2 and {own_content} in {item}"
    return f"{{{made}}} if {is_plain} else {{**{rest}, {made}}}"


EMITTERS: dict[str, Callable[[Source, Value, Any], Value | None]] = {"messages": _messages}
"""Name of an operation → what adds its lines."""
