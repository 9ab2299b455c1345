"""Tools of toolcrib as steps of a workflow of Temporal."""

import asyncio
from datetime import timedelta

from temporalio import activity, workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    import crib_call


@activity.defn
async def ask_tool(step: str, tool: str, arguments: dict) -> dict:
    key = f"{activity.info().workflow_id}/{step}"
    asked = asyncio.create_task(asyncio.to_thread(crib_call.call, tool, arguments, key))
    while not asked.done():
        # Temporal gives the step to another worker when this one falls silent.
        activity.heartbeat()
        await asyncio.wait([asked], timeout=1)
    try:
        return asked.result()
    except crib_call.Refused as refused:
        kind = type(refused).__name__
        raise ApplicationError(str(refused), type=kind, non_retryable=True) from refused


async def call_tool(step: str, tool: str, arguments: dict):
    """In a workflow: the answer of a tool. `step` names the call, once in a workflow."""
    decided = asyncio.Event()
    workflow.set_signal_handler("decided", lambda *_: decided.set())
    pause = timedelta(seconds=5)
    while True:
        told = await workflow.execute_activity(
            ask_tool,
            args=[step, tool, arguments],
            start_to_close_timeout=timedelta(minutes=2),
            heartbeat_timeout=timedelta(seconds=5),
            retry_policy=RetryPolicy(maximum_interval=timedelta(seconds=30)),
        )
        if "answer" in told:
            return told["answer"]
        # A person has to decide. The signal spares them the rest of the pause.
        try:
            await workflow.wait_condition(decided.is_set, timeout=pause)
        except asyncio.TimeoutError:
            pause = min(pause * 2, timedelta(minutes=5))
        decided.clear()
