"""Tools of toolcrib as steps of a workflow of DBOS."""

import crib_call
from dbos import DBOS


# DBOS retries a step only if it is told to: here for a day.
@DBOS.step(
    retries_allowed=True,
    interval_seconds=2,
    backoff_rate=1,
    max_attempts=43_200,
    should_retry=lambda error: isinstance(error, crib_call.AskAgain),
)
def ask_tool(key: str, tool: str, arguments: dict) -> dict:
    return crib_call.call(tool, arguments, key)


def call_tool(step: str, tool: str, arguments: dict):
    """In a workflow: the answer of a tool. `step` names the call, once in a workflow."""
    key, pause = f"{DBOS.workflow_id}/{step}", 5
    while True:
        told = ask_tool(key, tool, arguments)
        if "answer" in told:
            return told["answer"]
        # A person has to decide. A message spares them the rest of the pause.
        if DBOS.recv("decided", timeout_seconds=pause) is None:
            pause = min(pause * 2, 300)
