"""A plain interpreter of the field language, as docs/reference/manifests.md and docs/reference/operations.md have it.

It takes one record and the expression as the manifest writes it, knows nothing of batches, and is
slow. Any exception is the error of the record.
"""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import math
import operator
import random
import re
import string
from ast import literal_eval
from collections.abc import Callable
from datetime import datetime
from typing import Any

from registry.base.digest import encode_value
from registry.decode.frame import MISSING
from registry.manifest.templates import Placeholder, Section, parse_template

__all__ = ["condition", "value"]

Record = dict[str, Any]


class BadRecordError(Exception):
    """The record can't be mapped."""


def need(holds: object) -> None:
    if not holds:
        raise BadRecordError


def value(raw: Any, record: Record, number: int) -> Any:
    """Return what an expression gives, or MISSING for a column that the record lacks."""
    if isinstance(raw, str):
        return column(record, raw)
    if isinstance(raw, list):
        found = [required(one, record, number) for one in raw]
        return [item for one in found for item in (one if isinstance(one, list) else [one])]
    (form,) = raw.keys() & FORMS.keys()
    return FORMS[form](raw, record, number)


def required(raw: Any, record: Record, number: int) -> Any:
    found = value(raw, record, number)
    need(found is not MISSING)
    return found


def column(record: Any, name: str) -> Any:
    if not isinstance(record, dict):
        return MISSING
    if name in record:
        return record[name]
    parts = name.split(".")
    for count in range(1, len(parts)):
        inner = column(record.get(".".join(parts[:count])), ".".join(parts[count:]))
        if inner is not MISSING:
            return inner
    return MISSING


def is_empty(one: Any) -> bool:
    return one is MISSING or one is None or is_nan(one) or one in ("", [], {})


def is_nan(one: Any) -> bool:
    return isinstance(one, float) and math.isnan(one)


def none(one: Any) -> Any:
    return None if one is MISSING else one


def text(one: Any) -> str:
    need(isinstance(one, str | int | float) and not isinstance(one, bool))
    return str(one)


def template(raw: Any, record: Record, number: int) -> str:
    def named(name: str) -> Any:
        return value(raw.get("with", {}).get(name, name), record, number)

    def filled(parts: Any) -> str:
        return "".join(map(shown, parts))

    def shown(one: Any) -> str:
        if isinstance(one, str):
            return one
        found = named(one.name)
        if isinstance(one, Section):
            return "" if is_empty(found) else filled(one.parts)
        assert isinstance(one, Placeholder)
        if one.default is not None and is_empty(found):
            return one.default
        need(isinstance(found, str | int | float))
        return str(found)

    return filled(parse_template(raw["template"]))


def hashed(raw: Any, record: Record, number: int) -> str:
    if raw["hash"] in ("*", []):
        texts = [record[name] for name in sorted(record) if isinstance(record[name], str)]
    else:
        names = raw["hash"] if isinstance(raw["hash"], list) else [raw["hash"]]
        texts = [str(required(one, record, number)) for one in names]
    digest = hashlib.new(raw.get("algorithm", "md5"), usedforsecurity=False)
    digest.update("\0".join(texts).encode("utf-8", "surrogatepass"))
    short = digest.hexdigest()[: raw.get("length")]
    prefix = raw.get("prefix")
    if prefix is None:
        return short
    return f"{prefix if isinstance(prefix, str) else required(prefix, record, number)}_{short}"


def row_number(raw: Any, record: Record, number: int) -> Any:
    found = number - 1 + raw["row_number"]
    return found if raw.get("width") is None else f"{found:0{raw['width']}d}"


def chosen(raw: Any, record: Record, number: int) -> Any:
    branch = raw.get("then" if condition(raw["if"], record, number) else "else")
    return None if branch is None else value(branch, record, number)


def messages(raw: Any, record: Record, number: int) -> list[Any]:
    made = []
    for turn in raw["messages"]:
        content = turn["content"]
        parts: Any = []
        if isinstance(content, list):
            for one in content:
                ((kind, inner),) = one.items()
                parts += content_parts(kind, value(inner, record, number))
        else:
            found = value(content, record, number)
            parts = found if isinstance(found, str) else content_parts(None, found)
        if parts:
            made.append({"role": turn["role"], "content": parts})
    return made


FORMATS: dict[Any, dict[str, str]] = {"audio": {"format": "mp3"}, "video": {"format": "mp4"}}


def content_parts(kind: str | None, found: Any) -> list[Any]:
    made = []
    for item in found if isinstance(found, list) else [found]:
        if is_empty(item):
            continue
        pairs: list[tuple[Any, Any]] = [(kind, item)]
        if kind is None:
            need(
                isinstance(item, dict)
                and item.keys() <= {"text", "image", "audio", "video", "document"}
            )
            pairs = [(key, inner) for key, inner in item.items() if inner is not None]
            need(len(pairs) < 2)
        for key, inner in pairs:
            need(is_empty(inner) or isinstance(inner, str))
            made += (
                [] if is_empty(inner) else [{"type": key, str(key): inner, **FORMATS.get(key, {})}]
            )
    return made


def pipe(raw: Any, record: Record, number: int) -> Any:
    found = value(raw["from"], record, number)
    calls = raw.get("do", [])
    for call in calls if isinstance(calls, list) else [calls]:
        found = applied(call, found, record, number)
    need(found is not MISSING)
    return found


def applied(call: Any, found: Any, record: Record, number: int) -> Any:
    name, argument = (call, None) if isinstance(call, str) else next(iter(call.items()))
    need(found is not MISSING or name in ("default", "coalesce", "nonempty", "test"))
    if name in WITH_RECORD:
        return WITH_RECORD[name](found, argument, record, number)
    return OPERATIONS[name](found, argument)


FORMS: dict[str, Callable[[Any, Record, int], Any]] = {
    "const": lambda raw, *_: copy.deepcopy(raw["const"]),
    "object": lambda raw, *where: {k: none(value(one, *where)) for k, one in raw["object"].items()},
    "template": template,
    "hash": hashed,
    "row_number": row_number,
    "if": chosen,
    "messages": messages,
    "from": pipe,
}

# ---------------------------------------------------------------- conditions


def condition(raw: Any, record: Record, number: int) -> bool:
    """Return whether a record meets a condition."""
    if isinstance(raw, list) or "all" in raw:
        return all(
            condition(one, record, number) for one in (raw if isinstance(raw, list) else raw["all"])
        )
    if "any" in raw:
        return any(condition(one, record, number) for one in raw["any"])
    if "not" in raw:
        return not condition(raw["not"], record, number)
    return meets(
        value(raw["value"], record, number), {k: v for k, v in raw.items() if k != "value"}
    )


def equal(left: Any, right: Any) -> bool:
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(equal(left[key], right[key]) for key in left)
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def meets(found: Any, tests: dict[str, Any]) -> bool:
    found = none(found)
    return all(COMPARISONS[name](found, operand) for name, operand in tests.items())


def ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def test(found: Any, operand: Any) -> bool:
        if found is None or is_nan(found):
            return False
        kinds = str if isinstance(operand, str) else (int, float)
        need(isinstance(found, kinds) and not isinstance(found, bool))
        return compare(found, operand)

    return test


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "equals": equal,
    "not_equals": lambda found, operand: not equal(found, operand),
    "in": lambda found, operand: any(equal(found, one) for one in operand),
    "not_in": lambda found, operand: not any(equal(found, one) for one in operand),
    "less": ordered(operator.lt),
    "at_most": ordered(operator.le),
    "greater": ordered(operator.gt),
    "at_least": ordered(operator.ge),
    "regex": lambda found, operand: isinstance(found, str) and bool(re.search(operand, found)),
    "empty": lambda found, operand: is_empty(found) is operand,
}

# ---------------------------------------------------------------- operations


def a(kind: Any, one: Any) -> Any:
    need(isinstance(one, kind))
    return one


def letter(index: int) -> str:
    return string.ascii_uppercase[index] if index < 26 else str(index - 25)


def letter_of(found: Any, argument: Any) -> str:
    index = (
        int(found) if isinstance(found, str) and re.fullmatch(r"\s*[0-9]{1,9}\s*", found) else found
    )
    need(type(index) is int and 0 <= index - (argument or {}).get("base", 0) < 1000)
    return letter(index - (argument or {}).get("base", 0))


def letters_where(found: Any, argument: Any) -> list[str]:
    marks = a(list, found)
    if argument is None:
        need(not marks or not all(isinstance(one, str) for one in marks))
        argument = {"in": [1, True]}
    return [letter(index) for index, one in enumerate(marks) if meets(one, argument)]


def lettered(found: Any, argument: Any) -> str:
    form = (argument or {}).get("format", "{letter}. {item}")
    lines = [form.format(letter=letter(i), item=text(one)) for i, one in enumerate(a(list, found))]
    need(len(lines) <= 1000)
    return str((argument or {}).get("separator", "\n")).join(lines)


def number_of(kind: Any) -> Callable[[Any, Any], Any]:
    def convert(found: Any, _: Any) -> Any:
        need(kind is float or not isinstance(found, float) or found.is_integer())
        return kind(a((int, float, str), found))

    return convert


def parsed(found: Any, argument: Any) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> Any:
        need(len(dict(pairs)) == len(pairs))
        return dict(pairs)

    if argument == "literal":
        made = literal_eval(text(found).strip())
        return list(made) if isinstance(made, tuple) else made
    made = json.loads(text(found), object_pairs_hook=once, parse_constant=lambda _: need(False))
    json.dumps(made, allow_nan=False)  # 1e400
    return made


def dumped(found: Any, argument: Any) -> str:
    chosen = {"ascii": False, "indent": None, "literal": False, **(argument or {})}
    data = encode_value(found)  # NaN and bytes, which JSON lacks
    if chosen["literal"]:
        return repr(found)
    return json.dumps(data, ensure_ascii=chosen["ascii"], indent=chosen["indent"])


def matches(found: Any, pattern: str) -> list[Any]:
    every = re.finditer(pattern, text(found))
    return [one.group(1) if one.re.groups else one.group() for one in every]


def regex(found: Any, argument: Any) -> Any:
    chosen = {"pattern": argument} if isinstance(argument, str) else argument
    every = matches(found, chosen["pattern"])
    if chosen.get("all"):
        return every
    need(every or chosen.get("optional"))
    return every[0] if every else None


def replaced(found: Any, argument: dict[str, str]) -> str:
    made = text(found)
    for old, new in argument.items():
        made = made.replace(old, new)
    return made


def looked_up(found: Any, table: dict[str, Any]) -> Any:
    key = (
        found
        if isinstance(found, str)
        else json.dumps(found)
        if not isinstance(found, list | dict)
        else None
    )
    return copy.deepcopy(table[key] if key in table else table["*"])


def without_null(found: Any, argument: Any) -> Any:
    def kept(one: Any) -> bool:
        is_blank = isinstance(one, str) and not one.strip()
        return not (one is None or is_nan(one) or (is_blank and (argument or {}).get("blank")))

    if isinstance(found, dict):
        return {key: one for key, one in found.items() if kept(one)}
    return [one for one in a(list, found) if kept(one)]


def unique(found: Any, _: Any) -> list[Any]:
    made: list[Any] = []
    for one in a(list, found):
        if not any(equal(one, other) for other in made):
            made.append(one)
    return made


def zipped(found: Any, _: Any) -> list[Any]:
    lists = a((dict, list), found)
    columns = [a(list, one) for one in (lists.values() if isinstance(lists, dict) else lists)]
    rows = zip(*columns, strict=True)
    return [
        dict(zip(lists, row, strict=True)) if isinstance(lists, dict) else list(row) for row in rows
    ]


def chat(found: Any, argument: Any) -> list[Any]:
    """Messages of text alone; `test_conversation.py` has the other forms."""
    names = {"role": None, "content": None, "roles": {}, **(argument or {})}
    roles = {**{one: one for one in ("system", "user", "assistant", "tool")}, **names["roles"]}
    roles = {"human": "user", "gpt": "assistant", **roles}
    if isinstance(found, str):
        return [{"role": "user", "content": found}]
    made = []
    for one in a(list, found):
        role, content = (
            names[key] or next((name for name in usual if name in a(dict, one)), usual[0])
            for key, usual in (("role", ("role", "from")), ("content", ("content", "value")))
        )
        rest = {key: value for key, value in one.items() if key not in (role, content)}
        made.append({**rest, "role": roles[one.get(role)], "content": a(str, one.get(content))})
    return made


def data_uri(found: Any, argument: Any) -> str:
    if isinstance(found, str) and found.startswith("data:"):
        return found
    data = a(bytes, found.get("bytes") if isinstance(found, dict) else found)
    kind = "image/gif" if data.startswith(b"GIF8") else "application/octet-stream"
    return f"data:{argument or kind};base64,{base64.b64encode(data).decode()}"


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "split": lambda found, argument: text(found).split(argument),
    "lines": lambda found, _: text(found).splitlines(),
    "strip": lambda found, argument: text(found).strip(argument),
    "lower": lambda found, _: text(found).lower(),
    "upper": lambda found, _: text(found).upper(),
    "capitalize": lambda found, _: text(found).capitalize(),
    "replace": replaced,
    "regex": regex,
    "sub": lambda found, argument: re.sub(argument["pattern"], argument.get("to", ""), text(found)),
    "int": number_of(int),
    "float": number_of(float),
    "str": lambda found, _: str(a((str, int, float), found)),
    "parse": parsed,
    "dump": dumped,
    "date": lambda found, argument: datetime.strptime(text(found), argument),  # noqa: DTZ007
    "join": lambda found, argument: argument.join(map(text, a(list, found))),
    "drop_null": without_null,
    "unique": unique,
    "sort": lambda found, _: sorted(a(list, found)),
    "pluck": lambda found, argument: [a(dict, one)[argument] for one in a(list, found)],
    "keys": lambda found, _: list(a(dict, found)),
    "items": lambda found, argument: [
        one if argument is None else f"{key}{argument}{text(one)}"
        for key, one in a(dict, found).items()
    ],
    "len": lambda found, _: len(a((list, dict, str), found)),
    "zip": zipped,
    "map": looked_up,
    "default": lambda found, argument: copy.deepcopy(argument) if is_empty(found) else found,
    "nonempty": lambda found, _: not is_empty(found),
    "equals": equal,
    "test": meets,
    "keep": lambda found, argument: [one for one in a(list, found) if meets(one, argument)],
    "letter": letter_of,
    "letters_where": letters_where,
    "lettered": lettered,
    "messages": chat,
    "data_uri": data_uri,
}


def at(found: Any, argument: Any, record: Record, number: int) -> Any:
    index = argument if type(argument) is int else required(argument, record, number)
    if isinstance(index, str):
        return a(dict, found)[index]
    need(type(index) is int)
    return a((list, str), found)[index]


def part(found: Any, argument: Any, record: Record, number: int) -> Any:
    bounds = []
    for one in argument:
        bound = required(one, record, number) if isinstance(one, str | dict) else one
        need(type(bound) is int or one is None)
        bounds.append(bound)
    return a((list, str), found)[bounds[0] : bounds[1]]


def shuffled(found: Any, argument: Any, record: Record, number: int) -> list[Any]:
    seed, items = required(argument, record, number), list(a(list, found))
    need(type(seed) in (str, int))
    random.Random(seed).shuffle(items)
    return items


def coalesced(found: Any, argument: Any, record: Record, number: int) -> Any:
    for one in argument if isinstance(argument, list) else [argument]:
        if not is_empty(found):
            break
        found = value(one, record, number)
    return None if is_empty(found) else found


def letter_in(found: Any, argument: Any, record: Record, number: int) -> str:
    labels = a(list, required(argument, record, number))
    return letter(next(index for index, one in enumerate(labels) if equal(found, one)))


def scopes(found: Any, argument: Any, record: Record) -> list[Record]:
    """Return the record that the expressions of `each` and `dict` read, for each item."""
    item, index = argument.get("item", "item"), argument.get("index", "index")
    outer = {key: one for key, one in record.items() if key.partition(".")[0] not in (item, index)}
    return [{**outer, item: one, index: place} for place, one in enumerate(a(list, found))]


def each(found: Any, argument: Any, record: Record, number: int) -> list[Any]:
    if isinstance(argument, dict):
        to = argument.get("to", argument.get("item", "item"))
        kept = [
            one
            for one in scopes(found, argument, record)
            if "where" not in argument or condition(argument["where"], one, number)
        ]
        return [required(to, one, number) for one in kept]
    made = []
    for one in a(list, found):
        made.append(one)
        for call in argument if isinstance(argument, list) else [argument]:
            made[-1] = applied(call, made[-1], record, number)
    return made


def as_dict(found: Any, argument: Any, record: Record, number: int) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for one in scopes(found, argument, record):
        key = text(required(argument.get("key", argument.get("item", "item")), one, number))
        entry = required(argument["value"], one, number)
        need(key not in made or equal(made[key], entry))
        made[key] = entry
    return made


WITH_RECORD: dict[str, Callable[[Any, Any, Record, int], Any]] = {
    "index": at,
    "slice": part,
    "shuffle": shuffled,
    "coalesce": coalesced,
    "letter_in": letter_in,
    "each": each,
    "dict": as_dict,
}
