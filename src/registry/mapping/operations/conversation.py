"""A conversation in the forms of OpenAI, Anthropic, ShareGPT and Inspect, as Inspect's messages."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from registry.errors import MappingError
from registry.mapping.operations.base import expect_type
from registry.mapping.operations.numbers import parse_json, parse_literal

__all__ = ["CONTENT_KEYS", "ROLES", "ROLE_KEYS", "ROLE_NAMES", "Conversation"]

ROLES = ("system", "user", "assistant", "tool")
"""The roles of messages."""
ROLE_KEYS = ("role", "from", "speaker")
CONTENT_KEYS = ("content", "value", "text", "message")
_CALL_ROLES = ("function_call", "function-call", "tool_call")
"""Roles whose content is a call by the assistant, as ShareGPT has it."""
ROLE_NAMES: Mapping[str, str] = {
    **{role: role for role in ROLES},
    "developer": "system",
    **dict.fromkeys(("human", "prompter"), "user"),
    **dict.fromkeys(("gpt", "chatgpt", "bot", "model", "ai", "bing", "bard"), "assistant"),
    **dict.fromkeys(_CALL_ROLES, "assistant"),
    **dict.fromkeys(("function", "observation", "function_response", "function-response"), "tool"),
    **dict.fromkeys(("tool_response", "tool-response"), "tool"),
}
"""Role as a form has it → role."""

_TEXT_FIELDS = ("refusal", "internal", "cache_breakpoint")
"""What Inspect's texts have beside the text and its citations."""
_RANGES = {
    "char_location": ("char", "char_index", 0),
    "content_block_location": ("block", "block_index", 0),
    "page_location": ("page", "page_number", 1),
}
"""Anthropic's citation → its unit in Inspect, the end of its keys, and the first number."""
_CALLS = {"tool_use", "tool_call"}
"""Parts that are calls. Inspect's own `tool_use`, of a tool of the provider, has a `tool_type`."""

Part = dict[str, Any]


@dataclass
class Conversation:
    """Reads the messages of one conversation in order, as results refer to the calls before."""

    role_keys: tuple[str, ...] = ROLE_KEYS
    content_keys: tuple[str, ...] = CONTENT_KEYS
    roles: Mapping[str, str] = field(default_factory=lambda: ROLE_NAMES)
    _called: dict[str, str] = field(default_factory=dict)
    """Id of each call → the function."""
    _waiting: list[str] = field(default_factory=list)
    """Ids of the calls without a result."""

    def read(self, items: list[Any]) -> list[dict[str, Any]]:
        """Return the messages; a MappingError names the item that has no known form."""
        made: list[dict[str, Any]] = []
        for index, item in enumerate(items):
            try:
                made.extend(self._messages(expect_type(item, dict, "a list of messages")))
            except MappingError as error:
                raise error.in_item(index) from error.__cause__
        return made

    def _messages(self, item: dict[str, Any]) -> Iterator[dict[str, Any]]:
        role_key = next((key for key in self.role_keys if key in item), self.role_keys[0])
        content_key = next((key for key in self.content_keys if key in item), "content")
        name, content = item.get(role_key), item.get(content_key)
        if not isinstance(name, str) or name not in self.roles:
            known = ", ".join(ROLES)
            message = f"the role is not one of {known} (`roles` of `messages` maps other names)"
            raise MappingError(message, value=name)
        # Other keys are kept, such as those of Inspect's own messages.
        rest = {key: one for key, one in item.items() if key not in (role_key, content_key)}
        match self.roles[name]:
            case "assistant":
                yield self._assistant(rest, content, is_call=name in _CALL_ROLES)
            case "tool":
                yield self._result(rest, content)
            case "user" if isinstance(content, list):
                yield from self._user(rest, content)
            case role:
                yield {**rest, "role": role, "content": _content(content, rest)}

    def _assistant(self, rest: dict[str, Any], content: Any, *, is_call: bool) -> dict[str, Any]:
        """Return a message, with the calls that are beside its content, in it, or all of it."""
        found = [content] if is_call else []
        found += [rest.pop(key, None) for key in ("tool_calls", "function_call")]
        parts = content if isinstance(content, list) and not is_call else []
        found += [part.get("value", part) for part in parts if _is_call(part)]
        calls = [self._call(one) for raw in found if raw for one in _parsed_calls(raw)]
        made: dict[str, Any] = {"tool_calls": calls} if calls else {}
        if is_call:
            content = None
        elif parts:
            content = [part for part in parts if not _is_call(part)]
        content = _content(content, {**rest, **made})
        for source in ("reasoning_content", "reasoning"):
            if isinstance(rest.get(source), str) and rest[source]:
                reasoning = {"type": "reasoning", "reasoning": rest.pop(source), "internal": source}
                text = [{"type": "text", "text": content}] if isinstance(content, str) else content
                content = [reasoning, *text]
        return {**rest, "role": "assistant", "content": content, **made}

    def _call(self, raw: Any) -> dict[str, Any]:
        """Return a call: OpenAI's have their name and arguments under `function`."""
        call = expect_type(raw, dict, "tool calls as a list of dicts")
        inner = call.get("function") or call.get("custom")
        inner = inner if isinstance(inner, dict) else call
        function = inner.get("name") or call.get("function")
        if not isinstance(function, str):
            raise MappingError("a tool call has no name of a function", value=call)
        is_custom = inner is not call and "custom" in call and call.get("type") == "custom"
        arguments = {"input": inner.get("input")} if is_custom else _arguments(inner, function)
        number = len(self._called) + 1
        made = {"id": call.get("id") or f"call_{number}", "function": function}
        # Inspect's own calls have more than these.
        own = {key: call[key] for key in ("parse_error", "view") if call.get(key) is not None}
        self._called[made["id"]] = function
        self._waiting.append(made["id"])
        kind = {"type": "custom"} if call.get("type") == "custom" else {}
        return {**made, "arguments": arguments, **own, **kind}

    def _result(self, rest: dict[str, Any], content: Any) -> dict[str, Any]:
        """Return the result of a call; one without an id is that of the first call without one."""
        name = rest.pop("name", None) or rest.get("function")
        identifier = rest.get("tool_call_id")
        if identifier is None:
            same = (one for one in self._waiting if name in (None, self._called[one]))
            identifier = next(same, None)
        if identifier in self._waiting:
            self._waiting.remove(identifier)
        function = self._called.get(identifier) or name if identifier is not None else name
        found = {"tool_call_id": identifier, "function": function}
        known = {key: one for key, one in found.items() if one is not None}
        text = "" if content is None else _content(content, rest)
        return {**rest, **known, "role": "tool", "content": text}

    def _user(self, rest: dict[str, Any], parts: list[Any]) -> Iterator[dict[str, Any]]:
        """Yield the results of calls, which Anthropic has as parts of the user, as messages."""
        own: list[Any] = []
        for part in parts:
            if not (isinstance(part, dict) and part.get("type") == "tool_result"):
                own.append(part)
                continue
            if own:
                yield {**rest, "role": "user", "content": _content(own, rest)}
                own = []
            made = self._result({"tool_call_id": part.get("tool_use_id")}, part.get("content"))
            if part.get("is_error") is True:
                made["error"] = {"type": "unknown", "message": _text_of(made["content"])}
            yield made
        if own or not parts:
            yield {**rest, "role": "user", "content": _content(own, rest)}


def _is_call(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") in _CALLS and not part.get("tool_type")


def _parsed_calls(content: Any) -> list[Any]:
    """Return calls, which may be written as JSON, or as Python writes it."""
    if isinstance(content, str):
        try:
            content = parse_json(content)
        except MappingError as error:
            try:
                content = parse_literal(content)
            except MappingError:
                raise error from error.__cause__
    return content if isinstance(content, list) else [content]


def _arguments(call: Mapping[str, Any], function: str) -> dict[str, Any]:
    raw = call.get("arguments", call.get("input", call.get("parameters")))
    if raw is None or raw == "":
        return {}
    # Twice, as some files have a string of JSON in the string.
    for _ in range(2):
        if isinstance(raw, str):
            try:
                raw = parse_json(raw)
            except MappingError as error:
                message = f"the arguments of the call of {function}: {error.message}"
                raise MappingError(message, value=raw) from error.__cause__
    if not isinstance(raw, dict):
        message = f"the arguments of the call of {function} must be a dict, or JSON of one"
        raise MappingError(message, value=raw)
    return raw


def _content(content: Any, rest: Mapping[str, Any]) -> str | list[Part]:
    """Return the content of a message: "" beside tool calls, or the text of a refusal."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part for one in content for part in _parts(one)]
        return parts or _without(rest)
    if content is not None:
        raise MappingError("the content must be a string or a list of parts", value=content)
    return _without(rest)


def _without(rest: Mapping[str, Any]) -> str | list[Part]:
    if refusal := rest.get("refusal"):
        return [{"type": "text", "text": refusal, "refusal": True}]
    if rest.get("tool_calls"):
        return ""
    raise MappingError("the message has neither content nor tool calls", value=None)


def _text_of(content: str | list[Part]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part["type"] == "text")


def _parts(raw: Any) -> list[Part]:
    if isinstance(raw, str):
        return [{"type": "text", "text": raw}]
    # Where all parts have the same keys, as in Parquet, most of them are null.
    part = {
        key: one for key, one in expect_type(raw, dict, "parts as dicts").items() if one is not None
    }
    kind = part.get("type") or (next(iter(part)) if len(part) == 1 else None)
    if "value" in part and kind not in part:
        part[kind] = part["value"]
    reader = _PARTS.get(kind) if isinstance(kind, str) else None
    if reader is None:
        message = f"a part of the content has no known type (known: {', '.join(_PARTS)})"
        raise MappingError(message, value=kind)
    try:
        return [reader(part)]
    except (LookupError, TypeError, AttributeError) as error:
        message = f"a part of the content is no {kind} of OpenAI, Anthropic or Inspect"
        raise MappingError(message, value=raw) from error


def _text(part: Part) -> Part:
    own = {key: part[key] for key in _TEXT_FIELDS if key in part}
    if citations := part.get("citations"):
        own["citations"] = list(map(_citation, citations))
    return {"type": "text", "text": part["text"], **own}


def _citation(raw: Part) -> Part:
    """Return a citation of Anthropic's as Inspect has it, and Inspect's own unchanged."""
    found = {key: raw.get(key) for key in ("cited_text", "title")}
    if raw["type"] == "web_search_result_location":
        internal = {"encrypted_index": raw.get("encrypted_index")}
        return {"type": "url", **found, "url": raw["url"], "internal": internal}
    if raw["type"] not in _RANGES:
        return raw
    unit, key, first = _RANGES[raw["type"]]
    ends = {f"{end}_index": raw[f"{end}_{key}"] - first for end in ("start", "end")}
    return {
        "type": "document",
        **found,
        "title": raw.get("document_title"),
        "range": {"type": unit, **ends},
        "internal": {"document_index": raw.get("document_index")},
    }


def _image_url(part: Part) -> Part:
    image = part["image_url"]
    image = {"url": image, **part} if isinstance(image, str) else image
    detail = image.get("detail")
    return {"type": "image", "image": image["url"], **({"detail": detail} if detail else {})}


def _media(kind: str) -> Callable[[Part], Part]:
    """Return the reader of an image or a document: Inspect's own, or one with a source."""

    def read(part: Part) -> Part:
        if "source" not in part:
            return part if isinstance(part[kind], str) else {**part, kind: part[kind]["url"]}
        source = part["source"]
        title = {"filename": part["title"]} if kind == "document" and "title" in part else {}
        return {"type": kind, kind: _location(source), **title}

    return read


def _location(source: Mapping[str, Any]) -> str:
    """Return the address or the data URI of a source as Anthropic has it."""
    if source["type"] == "url":
        return str(source["url"])
    data = source["data"]
    if source["type"] == "text":
        data = base64.b64encode(data.encode()).decode()
    return f"data:{source['media_type']};base64,{data}"


def _input_audio(part: Part) -> Part:
    audio = part["input_audio"]
    media_type = "audio/mpeg" if audio["format"] == "mp3" else f"audio/{audio['format']}"
    uri = f"data:{media_type};base64,{audio['data']}"
    return {"type": "audio", "audio": uri, "format": audio["format"]}


def _file(part: Part) -> Part:
    file = part["file"]
    name = {"filename": file["filename"]} if file.get("filename") else {}
    return {"type": "document", "document": file["file_data"], **name}


def _thinking(part: Part) -> Part:
    if not part.get("signature"):
        return {"type": "reasoning", "reasoning": part["thinking"]}
    # As Inspect has it: what Anthropic shows is a summary, and the signature stands for the rest.
    return {
        "type": "reasoning",
        "summary": part["thinking"],
        "reasoning": part["signature"],
        "redacted": True,
    }


def _own(kind: str) -> Callable[[Part], Part]:
    """Return the reader of a part that Inspect alone has: it is unchanged."""

    def read(part: Part) -> Part:
        part[kind]
        return {"type": kind, **part}

    return read


_PARTS: dict[str, Callable[[Part], Part]] = {
    "text": _text,
    "input_text": _text,
    "output_text": _text,
    "refusal": lambda part: {"type": "text", "text": part["refusal"], "refusal": True},
    "image_url": _image_url,
    "input_image": _image_url,
    "image": _media("image"),
    "input_audio": _input_audio,
    "file": _file,
    "document": _media("document"),
    "thinking": _thinking,
    "redacted_thinking": lambda part: {
        "type": "reasoning",
        "reasoning": part["data"],
        "redacted": True,
    },
    "reasoning": _own("reasoning"),
    "audio": _own("audio"),
    "video": _own("video"),
    "data": _own("data"),
    "tool_use": _own("tool_type"),
}
"""Type of a part → its part in Inspect's form."""
