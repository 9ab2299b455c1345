"""Reads what the dialects write with the vendors' own types; every unknown field is an error."""

import json
import sys
from typing import Any, List

import anthropic.types as anthropic
import openai.types.chat as chat
import openai.types.responses as responses
from google.genai import types as gemini
from openai.types.responses import response_create_params
from openai.types.responses.response_input_item_param import FunctionCallOutput
from pydantic import TypeAdapter, create_model


def fields(kind: Any, seen: set) -> None:
    """Forbids further fields in a TypedDict and in all that it is made of."""
    import typing

    if id(kind) in seen:
        return
    seen.add(id(kind))
    for argument in typing.get_args(kind):
        fields(argument, seen)
    if typing.is_typeddict(kind):
        config = getattr(kind, "__pydantic_config__", {})
        if config.get("extra") != "allow":
            kind.__pydantic_config__ = {**config, "extra": "forbid"}
        for part in typing.get_type_hints(kind, include_extras=True).values():
            fields(part, seen)


def adapter(kind: Any) -> TypeAdapter:
    fields(kind, set())
    return TypeAdapter(kind)


CHAT = {
    "tools": adapter(List[chat.ChatCompletionToolUnionParam]),
    "tool_choice": adapter(chat.ChatCompletionToolChoiceOptionParam),
    "parallel_tool_calls": adapter(bool),
    "results": adapter(List[chat.ChatCompletionToolMessageParam]),
}
RESPONSES = {
    "tools": adapter(List[responses.ToolParam]),
    "tool_choice": adapter(response_create_params.ToolChoice),
    "parallel_tool_calls": adapter(bool),
    "results": adapter(List[FunctionCallOutput]),
}
ANTHROPIC = {
    "tools": adapter(List[anthropic.ToolUnionParam]),
    "tool_choice": adapter(anthropic.ToolChoiceParam),
    "results": adapter(List[anthropic.MessageParam]),
}
GEMINI = {
    "tools": TypeAdapter(List[gemini.Tool]),
    "toolConfig": TypeAdapter(gemini.ToolConfig),
    "results": TypeAdapter(List[gemini.Content]),
}
KINDS = {
    "openai-chat": CHAT,
    "openai-responses": RESPONSES,
    "anthropic": ANTHROPIC,
    "gemini": GEMINI,
}


def main() -> int:
    failures = 0
    for case in json.load(sys.stdin):
        kinds = KINDS[case["dialect"]]
        choice = "toolConfig" if case["dialect"] == "gemini" else "tool_choice"
        values = [(key, value) for request in case["requests"] for key, value in request.items()]
        values += [(choice, forced) for forced in case["forced"]]
        values.append(("results", case["results"]))
        for key, value in values:
            try:
                kinds[key].validate_python(value) if key != "results" or choice == "tool_choice" else kinds[
                    key
                ].validate_json(json.dumps(value))
            except Exception as error:  # noqa: BLE001
                failures += 1
                print(f"{case['variant']} {key}: {str(error)[:3000]}")
        print(f"{case['variant']}: {len(values)} values read")
    return min(failures, 1)


sys.exit(main())
