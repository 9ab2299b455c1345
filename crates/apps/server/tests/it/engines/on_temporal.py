"""A worker of Temporal that takes commands by lines: `start`, `decided`, `result`."""

import asyncio
import json
import sys

from temporalio import workflow
from temporalio.client import Client, WorkflowFailureError
from temporalio.worker import Worker

with workflow.unsafe.imports_passed_through():
    import temporal_tool

QUEUE = "engines"


@workflow.defn
class Work:
    @workflow.run
    async def run(self, tool: str, arguments: dict) -> object:
        return await temporal_tool.call_tool("only", tool, arguments)


async def obey(client, said):
    name = said["id"]
    match said["do"]:
        case "start":
            arguments = [said["tool"], said["arguments"]]
            await client.start_workflow(Work.run, args=arguments, id=name, task_queue=QUEUE)
            return {}
        case "decided":
            await client.get_workflow_handle(name).signal("decided")
            return {}
        case "result":
            try:
                return {"answer": await client.get_workflow_handle(name).result()}
            except WorkflowFailureError as failure:
                activity = failure.cause
                return {"failed": activity.cause.type, "words": activity.cause.message}


async def main(address):
    client = await Client.connect(address)
    activities = [temporal_tool.ask_tool]
    async with Worker(client, task_queue=QUEUE, workflows=[Work], activities=activities):
        print(json.dumps({"ready": True}), flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            print(json.dumps(await obey(client, json.loads(line))), flush=True)


# Its sandbox imports this file once more.
if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
