"""Reads what the dialects write with the vendors' own types; every unknown field is an error.

Gemini's types are pydantic models and forbid unknown fields. The others are TypedDicts, of which
pydantic would read neither unknown fields nor the items of an `Iterable`: they are walked here.
"""

import collections.abc
import json
import sys
import typing
from typing import Any, List

import anthropic.types as anthropic
import openai.types.chat as chat
import openai.types.responses as responses
import typing_extensions
from google.genai import types as gemini
from openai.types.responses import response_create_params
from openai.types.responses.response_input_item_param import FunctionCallOutput
from pydantic import TypeAdapter

LISTS = (list, collections.abc.Iterable, collections.abc.Sequence)
MARKS = (typing.Required, typing.NotRequired, typing.Annotated)


def problems(kind: Any, value: Any, path: str) -> List[str]:
    """What keeps `value` from being of `kind`; the branch of a union that fits best speaks."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in MARKS or origin in (typing_extensions.Required, typing_extensions.NotRequired):
        return problems(arguments[0], value, path)
    if origin is typing.Union:
        return min((problems(part, value, path) for part in arguments), key=len)
    if origin is typing.Literal or origin is typing_extensions.Literal:
        return [] if value in arguments else [f"{path}: {value!r} is none of {arguments}"]
    if typing_extensions.is_typeddict(kind):
        return fields(kind, value, path)
    if origin in LISTS or getattr(origin, "__name__", "") == "SequenceNotStr":
        if not isinstance(value, list):
            return [f"{path}: no list"]
        items = [problems(arguments[0], item, f"{path}/{i}") for i, item in enumerate(value)]
        return [problem for item in items for problem in item]
    if origin is dict:
        return [] if isinstance(value, dict) else [f"{path}: no object"]
    if kind in (Any, object):
        return []
    if kind in (None, type(None)):
        return [] if value is None else [f"{path}: not null"]
    if isinstance(kind, type) and kind in (str, int, float, bool):
        return [] if type(value) is kind else [f"{path}: {value!r} is no {kind.__name__}"]
    return [f"{path}: not of {kind}"]


def fields(kind: Any, value: Any, path: str) -> List[str]:
    if not isinstance(value, dict):
        return [f"{path}: no object"] * 10
    hints = typing_extensions.get_type_hints(kind, include_extras=True)
    found = []
    for key, part in hints.items():
        if key in value:
            found += problems(part, value[key], f"{path}/{key}")
        elif typing_extensions.get_origin(part) is typing_extensions.Required:
            found += [f"{path}: `{key}` is missing"] * 3
    if getattr(kind, "__pydantic_config__", {}).get("extra") != "allow":
        found += [f"{path}: `{key}` is unknown" for key in value if key not in hints]
    # The wrong branch of a union says so by its tag.
    tag = hints.get("type")
    if tag is not None and "type" in value and problems(tag, value["type"], path):
        found += [f"{path}: another type"] * 10
    return found


def walked(kind: Any):
    return lambda value: problems(kind, value, "")


def modelled(kind: Any):
    adapter = TypeAdapter(kind)

    def read(value: Any) -> List[str]:
        try:
            adapter.validate_json(json.dumps(value))
        except ValueError as error:
            return [str(error)]
        return []

    return read


KINDS = {
    "openai-chat": {
        "tools": walked(List[chat.ChatCompletionToolUnionParam]),
        "tool_choice": walked(chat.ChatCompletionToolChoiceOptionParam),
        "parallel_tool_calls": walked(bool),
        "results": walked(List[chat.ChatCompletionToolMessageParam]),
    },
    "openai-responses": {
        "tools": walked(List[responses.ToolParam]),
        "tool_choice": walked(response_create_params.ToolChoice),
        "parallel_tool_calls": walked(bool),
        "results": walked(List[FunctionCallOutput]),
    },
    "anthropic": {
        "tools": walked(List[anthropic.ToolUnionParam]),
        "tool_choice": walked(anthropic.ToolChoiceParam),
        "results": walked(List[anthropic.MessageParam]),
    },
    "gemini": {
        "tools": modelled(List[gemini.Tool]),
        "toolConfig": modelled(gemini.ToolConfig),
        "results": modelled(List[gemini.Content]),
    },
}


# What must be found wrong, or nothing above can be trusted.
WRONG = [
    ("openai-chat", "tools", [{"type": "function", "function": {"name": "a", "parametres": {}}}]),
    ("openai-chat", "tool_choice", {"type": "allowed_tools", "mode": "auto", "tools": []}),
    ("openai-chat", "results", [{"role": "tool", "tool_call_id": "1", "content": [{"type": "x"}]}]),
    ("openai-responses", "tools", [{"type": "function", "name": "a", "parameters": {}}]),
    ("openai-responses", "results", [{"type": "function_call_output", "call_id": "1", "output": [1]}]),
    ("anthropic", "tools", [{"name": "a", "input_schema": {"type": "object"}, "defer": True}]),
    ("anthropic", "results", [{"role": "user", "content": [{"type": "tool_result", "error": True}]}]),
    ("gemini", "tools", [{"functionDeclarations": [{"name": "a", "parametersJSONSchema": {}}]}]),
    ("gemini", "results", [{"role": "user", "parts": [{"functionResponse": {"respons": {}}}]}]),
]


def main() -> int:
    failures = 0
    for dialect, key, value in WRONG:
        if not KINDS[dialect][key](value):
            failures += 1
            print(f"{dialect} {key}: a mistake was not seen: {value}")
    for case in json.load(sys.stdin):
        kinds = KINDS[case["dialect"]]
        choice = "toolConfig" if case["dialect"] == "gemini" else "tool_choice"
        values = [(key, value) for request in case["requests"] for key, value in request.items()]
        values += [(choice, forced) for forced in case["forced"]]
        values.append(("results", case["results"]))
        for key, value in values:
            for problem in kinds[key](value):
                failures += 1
                print(f"{case['variant']} {key}{problem}")
        print(f"{case['variant']}: {len(values)} values read")
    return min(failures, 1)


sys.exit(main())
