"""Lists of tools as agents' clients want them: small schemas without what clients refuse or models need not read.

For an `anyOf` at the top clients drop a tool and models' APIs the whole list. Titles, patterns and lower bounds cost
tokens at every turn and say nothing that the error of a refused call would not say.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

from bcon_exporter.errors import InvalidInputError
from bcon_exporter.model.name_suggestions import did_you_mean
from bcon_exporter.secrets.cleaning import clean_name
from bcon_exporter.tools import TOOLS, Tool, Toolset

ToolFormat = Literal["openai", "anthropic", "mcp", "json-schema"]
FORMATS: tuple[ToolFormat, ...] = get_args(ToolFormat)
TOOLSETS: tuple[Toolset, ...] = get_args(Toolset)
DEFAULT_TOOLSETS: tuple[Toolset, ...] = ("core",)
DIALECT = "https://json-schema.org/draft/2020-12/schema"

_KEPT = ("type", "description", "enum", "default", "maximum")
_VIEW: dict[str, dict[str, Any]] = {
    "detail": {"type": "boolean"},
    "limit": {"type": "integer"},
    "offset": {"type": "integer"},
}
"""What an agent may say of every answer's size, briefly: a list of tools is read, and paid for, at every turn.

`max_bytes` and `select`, which every tool takes too, are not worth that (docs/agents.md)."""
_PAGES = ("limit", "offset")


def offered_tools(toolsets: Iterable[str]) -> tuple[Tool[Any], ...]:
    """Return the tools of some toolsets, in the registry's order.

    Raises:
        InvalidInputError: There is no such toolset, or none is named.
    """
    wanted = set(toolsets)
    for name in sorted(wanted):
        if name not in TOOLSETS:
            shown = clean_name(name)[:64]
            msg = f"toolsets: there is none called {shown!r}{did_you_mean(name, TOOLSETS)}; there are {_list(TOOLSETS)}"
            raise InvalidInputError(msg, {"errors": [{"field": "toolsets", "message": "unknown"}]})
    if not wanted:
        msg = f"toolsets: name at least one of {_list(TOOLSETS)}"
        raise InvalidInputError(msg, {"errors": [{"field": "toolsets", "message": "empty"}]})
    return tuple(tool for tool in TOOLS if tool.toolset in wanted)


def describe_tools(form: str, toolsets: Iterable[str], *, strict: bool = False) -> list[dict[str, Any]]:
    """Return the tools of some toolsets in the form that a model's API or a client takes.

    Raises:
        InvalidInputError: There is no such form or toolset, or the form knows no `strict`.
    """
    if strict and form != "openai":
        msg = "strict: only the format openai has it"
        raise InvalidInputError(msg, {"errors": [{"field": "strict", "message": "only with format=openai"}]})
    tools = offered_tools(toolsets)
    match form:
        case "openai":
            return [_describe_for_openai(tool, strict=strict) for tool in tools]
        case "anthropic":
            return [{**_words(tool), "input_schema": compact_schema(tool)} for tool in tools]
        case "mcp":
            return [
                {**_words(tool), "inputSchema": compact_schema(tool), "annotations": annotate(tool)} for tool in tools
            ]
        case "json-schema":
            return [{**_words(tool), "schema": {"$schema": DIALECT, **compact_schema(tool)}} for tool in tools]
        case _:
            shown = clean_name(form)[:64]
            msg = f"format: there is none called {shown!r}{did_you_mean(form, FORMATS)}; there are {_list(FORMATS)}"
            raise InvalidInputError(msg, {"errors": [{"field": "format", "message": "unknown"}]})


def annotate(tool: Tool[Any]) -> dict[str, bool]:
    """Return what MCP's clients are told of a tool's effect; a client asks its user at each call of one that writes."""
    return {
        "readOnlyHint": tool.effect == "read",
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    }


def compact_schema(tool: Tool[Any], *, view: bool = True, strict: bool = False) -> dict[str, Any]:
    """Return the schema of a tool's input as short as it can be.

    Args:
        tool: The tool.
        view: With the inputs that choose how much of the answer is shown.
        strict: As OpenAI's `strict` demands: every field is required, and null where it may be left out.
    """
    schema = tool.input_schema()
    compact = _Compact(schema.get("$defs", {}), strict=strict)
    shape = compact.shape({key: value for key, value in schema.items() if key != "description"})
    if view:
        required = shape.get("required", [])
        added = {name: field for name, field in _view_of(tool).items() if name not in shape["properties"]}
        shape["properties"] |= {name: _or_null(field) if strict else field for name, field in added.items()}
        if strict:
            shape["required"] = [*required, *added]
    return shape


def _view_of(tool: Tool[Any]) -> dict[str, dict[str, Any]]:
    pages = tool.rows is not None or getattr(tool.output_type, "__origin__", None) is tuple
    return {name: dict(field) for name, field in _VIEW.items() if pages or name not in _PAGES}


class _Compact:
    """Shortens one tool's schema.

    Args:
        definitions: The schema's `$defs`, which are written out where they are used.
        strict: See `compact_schema`.
    """

    def __init__(self, definitions: Mapping[str, Any], *, strict: bool) -> None:
        self._definitions = definitions
        self._strict = strict

    def shape(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return a schema of any kind, shortened."""
        schema = self._written_out(schema)
        variants = [one for one in map(self._written_out, schema.get("anyOf", ())) if one.get("type") != "null"]
        if len(variants) == 1:
            return self.shape({**variants[0], **{key: value for key, value in schema.items() if key != "anyOf"}})
        if variants:
            return self._choice(schema, [self.shape(one) for one in variants])
        short = {key: schema[key] for key in _KEPT if key in schema}
        if self._strict or short.get("default", True) in (None, False, ""):
            short.pop("default", None)
        if "const" in schema:
            short["enum"] = [schema["const"]]
        if schema.get("type") == "array":
            short["items"] = self.shape(schema["items"])
        if schema.get("type") == "object":
            short |= self._fields(schema)
        return short

    def _written_out(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a schema with what it refers to in its place."""
        if "$ref" not in schema:
            return schema
        referred = self._definitions[schema["$ref"].rpartition("/")[2]]
        return self._written_out({**referred, **{key: value for key, value in schema.items() if key != "$ref"}})

    def _choice(self, schema: Mapping[str, Any], variants: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the variants, or one where they are the same in short: a time and a duration are both text."""
        words = {key: schema[key] for key in ("description",) if key in schema}
        if all(one == variants[0] for one in variants):
            return {**variants[0], **words}
        return {"anyOf": variants, **words}

    def _fields(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return what an object has; a map with known keys is an object with these fields."""
        values = schema.get("additionalProperties")
        keys = schema.get("propertyNames", {}).get("enum", ())
        if keys and self._strict:
            return self._object(dict.fromkeys(keys, values), required=())
        if isinstance(values, dict):
            words = {"description": f"Keys: {', '.join(keys)}"} if keys else {}
            return {**words, "additionalProperties": self.shape(values)}
        return self._object(schema.get("properties", {}), schema.get("required", ()))

    def _object(self, fields: Mapping[str, Any], required: Iterable[str]) -> dict[str, Any]:
        required = list(required)
        shapes = {name: self.shape(field) for name, field in fields.items()}
        if self._strict:
            shapes = {name: shape if name in required else _or_null(shape) for name, shape in shapes.items()}
            return {"properties": shapes, "required": list(shapes), "additionalProperties": False}
        return {"properties": shapes, **({"required": required} if required else {})}


def _or_null(shape: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that takes null as well."""
    if "anyOf" in shape:
        return {**shape, "anyOf": [*shape["anyOf"], {"type": "null"}]}
    enum = {"enum": [*shape["enum"], None]} if "enum" in shape else {}
    return {**shape, "type": [shape["type"], "null"], **enum}


def _describe_for_openai(tool: Tool[Any], *, strict: bool) -> dict[str, Any]:
    function = {**_words(tool), "parameters": compact_schema(tool, strict=strict)}
    return {"type": "function", "function": {**function, "strict": True} if strict else function}


def _words(tool: Tool[Any]) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description}


def _list(names: Iterable[str]) -> str:
    return ", ".join(names)
