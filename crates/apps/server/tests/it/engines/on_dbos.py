"""A program with DBOS in it that takes commands by lines: `start`, `decided`, `result`."""

import json
import sys

import dbos_tool
from dbos import DBOS, SetWorkflowID


@DBOS.workflow()
def work(tool: str, arguments: dict) -> object:
    return dbos_tool.call_tool("only", tool, arguments)


def obey(said):
    name = said["id"]
    match said["do"]:
        case "start":
            with SetWorkflowID(name):
                DBOS.start_workflow(work, said["tool"], said["arguments"])
            return {}
        case "decided":
            DBOS.send(name, True, topic="decided")
            return {}
        case "result":
            try:
                return {"answer": DBOS.retrieve_workflow(name).get_result()}
            except Exception as failure:
                return {"failed": type(failure).__name__, "words": str(failure)}


# What it was told to do before it was killed, it goes on with as it starts.
DBOS(config={
    "name": "engines",
    "system_database_url": sys.argv[1],
    "application_version": "1",
    "log_level": "ERROR",
})
DBOS.launch()
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    print(json.dumps(obey(json.loads(line))), flush=True)
