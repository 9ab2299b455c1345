"""Tools of toolcrib as steps of a workflow of Restate."""

import asyncio
from datetime import timedelta

import crib_call
import restate

RETRY = restate.RunOptions(
    initial_retry_interval=timedelta(seconds=1),
    max_retry_interval=timedelta(seconds=30),
)


async def ask_tool(key: str, tool: str, arguments: dict) -> dict:
    try:
        return await asyncio.to_thread(crib_call.call, tool, arguments, key)
    except crib_call.Refused as refused:
        # The only exception that Restate does not retry.
        kind = type(refused).__name__
        raise restate.TerminalError(f"{kind}: {refused}") from refused


async def call_tool(context: restate.WorkflowContext, step: str, tool: str, arguments: dict):
    """The answer of a tool. `step` names the call, once in a workflow."""
    key, pause = f"{context.key()}/{step}", timedelta(seconds=5)
    while True:
        told = await context.run_typed(step, ask_tool, RETRY, key, tool, arguments)
        if "answer" in told:
            return told["answer"]
        # A person has to decide: whoever waits is a timer in Restate, and no process.
        await context.sleep(pause)
        pause = min(pause * 2, timedelta(minutes=5))
