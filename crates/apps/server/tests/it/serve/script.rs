//! MCP servers that a test writes: a few lines of Python, with what all of them need around it.

/// A server of one thread, as the text of its program. `before`: what stands before its loop.
/// `tools`: its list, as an expression. `call`: what a call does, which leaves its result in
/// `answer`; `asked["params"]` is the call.
pub(crate) fn server(before: &str, tools: &str, call: &str) -> String {
    let call: Vec<_> = call.lines().map(|line| format!("        {line}")).collect();
    let call = call.join("\n");
    format!(
        r#"
import json, sys, time
{before}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, answer = asked["method"], None
    if method == "initialize":
        answer = {{"protocolVersion": asked["params"]["protocolVersion"],
                  "capabilities": {{"tools": {{}}}}, "serverInfo": {{"name": "s", "version": "1"}}}}
    elif method == "tools/list":
        answer = {{"tools": {tools}}}
    elif method == "tools/call":
{call}
    reply = {{"jsonrpc": "2.0", "id": asked["id"]}}
    if answer is None:
        reply["error"] = {{"code": -32601, "message": "unknown method"}}
    else:
        reply["result"] = answer
    print(json.dumps(reply), flush=True)
"#
    )
}

/// A tool that takes any object, as an expression.
pub(crate) fn tool(name: &str, annotation: &str) -> String {
    format!(
        r#"{{"name": "{name}", "annotations": {{{annotation}}}, "inputSchema": {{"type": "object"}}}}"#
    )
}

/// Says this, as a statement.
pub(crate) fn says(text: &str) -> String {
    format!(r#"answer = {{"content": [{{"type": "text", "text": {text}}}]}}"#)
}
