"""A service of Restate that takes commands by lines: `start`, `decided`, `result`."""

import asyncio
import json
import sys
import urllib.error
import urllib.request

import hypercorn.asyncio
import hypercorn.config
import restate
import restate_tool

work = restate.Workflow("Work")


@work.main()
async def run(context: restate.WorkflowContext, asked: dict) -> object:
    return await restate_tool.call_tool(context, "only", asked["tool"], asked["arguments"])


def ask(method, url, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(url, data, headers, method=method)
    with urllib.request.urlopen(request, timeout=120) as reply:
        return json.loads(reply.read() or "null")


def obey(ingress, said):
    name = said["id"]
    match said["do"]:
        case "start":
            asked = {"tool": said["tool"], "arguments": said["arguments"]}
            ask("POST", f"{ingress}/Work/{name}/run/send", asked)
            return {}
        case "decided":
            return {}
        case "result":
            try:
                return {"answer": ask("GET", f"{ingress}/restate/workflow/Work/{name}/attach")}
            except urllib.error.HTTPError as failure:
                kind, _, words = json.loads(failure.read())["message"].partition(": ")
                return {"failed": kind, "words": words}


async def main(port, admin, ingress):
    config = hypercorn.config.Config()
    config.bind = [f"127.0.0.1:{port}"]
    serving = asyncio.create_task(hypercorn.asyncio.serve(restate.app([work]), config))
    for _ in range(600):
        try:
            body = {"uri": f"http://127.0.0.1:{port}", "force": True}
            await asyncio.to_thread(ask, "POST", f"{admin}/deployments", body)
            break
        except OSError:
            await asyncio.sleep(0.1)
    print(json.dumps({"ready": True}), flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        done = await asyncio.to_thread(obey, ingress, json.loads(line))
        print(json.dumps(done), flush=True)
    serving.cancel()


asyncio.run(main(*sys.argv[1:]))
