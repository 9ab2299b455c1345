//! A call comes to the server as the client made it, and its result to the client as the server
//! gave it.

use serde_json::{Value, json};

use crate::intermediary::bench::{Bench, Checked, ensure, same};
use crate::intermediary::check::{Check, must, should};
use crate::intermediary::client::GatewayClient;
use crate::intermediary::upstream::{TALL, parts};

const ARGUMENTS: &str = "Tools, Calling Tools: another value is another call";
const RESULT: &str = "Tools, Tool Result: what the server said is the client's to read";

pub(super) fn checks() -> Vec<Check> {
    let mut all = of_arguments();
    all.extend(of_meta());
    all.extend(of_results());
    all
}

fn of_arguments() -> Vec<Check> {
    vec![
        must(
            "CALL-ONCE",
            "a call comes to the server once",
            "a tool may do something: twice is another thing",
            |bench| Box::pin(once(bench)),
        ),
        must(
            "CALL-TEXTS",
            "texts come as they were sent: unicode, controls, empty",
            ARGUMENTS,
            |bench| {
                let texts = json!({ "": "", "e": "\u{e9}e\u{301}", "rtl": "\u{5e9}\u{5dc}", "emoji": "\u{1f469}\u{200d}\u{1f680}",
                "controls": "\u{1}\t\r\n\u{7f}\u{2028}", "quotes": "\"\\/'", "space": "  " });
                Box::pin(arguments(bench, texts))
            },
        ),
        must(
            "CALL-NULL",
            "null, empty lists and empty objects stay what they are",
            ARGUMENTS,
            |bench| {
                let values = json!({ "null": null, "list": [], "object": {}, "nulls": [null, [null]], "false": false, "zero": 0 });
                Box::pin(arguments(bench, values))
            },
        ),
        must("CALL-BIG-NUMBERS", "integers beyond 2^53 stay what they are", ARGUMENTS, |bench| {
            let values =
                json!({ "big": 9_007_199_254_740_993_u64, "bigger": u64::MAX, "small": i64::MIN });
            Box::pin(arguments(bench, values))
        }),
        should(
            "CALL-SPELLING",
            "numbers keep their spelling: 1.0 and 1e2 are not 1 and 100",
            "what is signed or compared as text changes with its spelling",
            |bench| {
                let text = r#"{"one":1.0,"exponent":1e2,"minus":-0.0,"long":0.1000000000000000055511151231257827}"#;
                Box::pin(arguments(bench, serde_json::from_str(text).unwrap_or_default()))
            },
        ),
        must("CALL-DEEP", "fifty objects within each other arrive", ARGUMENTS, |bench| {
            let deep = (0..50).fold(json!("end"), |inner, _| json!({ "next": inner }));
            Box::pin(arguments(bench, json!({ "nested": deep })))
        }),
        must("CALL-LARGE", "an argument of 300 kB arrives", ARGUMENTS, |bench| {
            Box::pin(arguments(bench, json!({ "text": "abc".repeat(100_000) })))
        }),
    ]
}

fn of_meta() -> Vec<Check> {
    vec![
        should(
            "CALL-META-UP",
            "what a client puts into `_meta` of its request comes to the server",
            "General fields: `_meta` is between client and server",
            |bench| Box::pin(meta_up(bench)),
        ),
        should(
            "CALL-TRACE",
            "the trace that a client names in `_meta` goes on behind the gateway",
            "General fields: `traceparent` of W3C Trace Context, so that a call is found at both ends",
            |bench| Box::pin(trace(bench)),
        ),
        must(
            "CALL-UNKNOWN-TOOL",
            "a tool that is not there is refused, and nothing is called",
            "Tools, Error Handling: unknown tools are protocol errors",
            |bench| Box::pin(unknown_tool(bench)),
        ),
    ]
}

fn of_results() -> Vec<Check> {
    vec![
        must(
            "RESULT-CONTENT",
            "content of every kind comes whole, with annotations and `_meta`",
            RESULT,
            |bench| Box::pin(result(bench, "content", "content", parts())),
        ),
        must(
            "RESULT-STRUCTURED",
            "`structuredContent` comes as it was given, beside the content",
            "Tools, Structured Content",
            |bench| Box::pin(structured(bench)),
        ),
        must(
            "RESULT-FAILED",
            "a tool that failed has failed: `isError`, its content and its data",
            "Tools, Error Handling: tool execution errors",
            |bench| Box::pin(failed(bench)),
        ),
        must(
            "RESULT-REFUSED",
            "an error of the protocol stays one, with its code",
            "JSON-RPC 2.0, Error object: the code tells what happened",
            |bench| Box::pin(refused(bench, "code", json!(-31_999))),
        ),
        must(
            "RESULT-REFUSED-DATA",
            "an error of the protocol keeps its data",
            "JSON-RPC 2.0, Error object: data",
            |bench| Box::pin(refused(bench, "data", json!({ "retry": false, "list": [1, null] }))),
        ),
        must(
            "RESULT-REFUSED-MESSAGE",
            "an error of the protocol keeps its message",
            "JSON-RPC 2.0, Error object: message",
            |bench| Box::pin(refused(bench, "message", json!("the tool is closed on Sundays"))),
        ),
        must(
            "RESULT-META",
            "what a server puts into `_meta` of its result comes to the client",
            "General fields: `_meta` is between server and client",
            |bench| Box::pin(meta_down(bench)),
        ),
        must("RESULT-HUGE", "a text of two MiB comes whole", RESULT, |bench| Box::pin(huge(bench))),
    ]
}

async fn once(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let mark = bench.mark();
    let answer = client.ask("tools/call", bench.params("write", &mark)).await;
    answer.result()?;
    let count = bench.upstream.calls(&mark).len();
    Ok(ensure(count == 1, || format!("it came {count} times"))?)
}

async fn arguments(bench: &Bench, mut sent: Value) -> Checked {
    let client = bench.client().await?;
    let mark = bench.mark();
    sent["mark"] = json!(mark);
    let answer = client.ask("tools/call", bench.params_with("echo", &sent)).await;
    answer.result()?;
    let calls = bench.upstream.calls(&mark);
    let came = calls.first().ok_or("the call did not come to the server")?;
    same("the arguments behind the gateway", &came.message["params"]["arguments"], &sent)?;
    let said: Value = serde_json::from_str(answer.said()?).unwrap_or_default();
    Ok(same("the arguments in the result", &said, &sent)?)
}

async fn meta_up(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let mark = bench.mark();
    let mut params = bench.params("meta", &mark);
    let own = json!({ "n": 1, "nothing": null });
    params["_meta"] = json!({ "example.com/asked": own });
    client.ask("tools/call", params).await.result()?;
    let calls = bench.upstream.calls(&mark);
    let came = calls.first().ok_or("the call did not come to the server")?;
    let meta = &came.message["params"]["_meta"];
    Ok(same("`example.com/asked` behind the gateway", &meta["example.com/asked"], &own)?)
}

async fn trace(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let mark = bench.mark();
    let mut params = bench.params("meta", &mark);
    let trace = "0af7651916cd43dd8448eb211c80319c";
    params["_meta"] = json!({ "traceparent": format!("00-{trace}-b7ad6b7169203331-01") });
    client.ask("tools/call", params).await.result()?;
    let calls = bench.upstream.calls(&mark);
    let came = calls.first().ok_or("the call did not come to the server")?;
    let named = came.message["params"]["_meta"]["traceparent"].as_str().unwrap_or_default();
    Ok(ensure(named.contains(trace), || format!("behind the gateway it is `{named}`"))?)
}

async fn unknown_tool(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let mark = bench.mark();
    let params = json!({ "name": "no_such_tool", "arguments": { "mark": mark } });
    let answer = client.ask("tools/call", params).await;
    // Some say it as the failure of a tool, which older clients can show to their model.
    let is_refused = answer.error().is_ok() || answer.result()?["isError"] == true;
    Ok(ensure(is_refused, || "it is answered as if there were such a tool".to_owned())?)
}

async fn result(bench: &Bench, tool: &str, member: &str, expected: Value) -> Checked {
    let client = bench.client().await?;
    let answer = bench.call(&client, tool).await;
    Ok(same(member, &answer.result()?[member], &expected)?)
}

async fn structured(bench: &Bench) -> Checked {
    let text = r#"{"n":12345678901234567890,"none":null,"more":[1.5,{}]}"#;
    let expected: Value = serde_json::from_str(text).unwrap_or_default();
    result(bench, "structured", "structuredContent", expected).await?;
    let words = json!([{ "type": "text", "text": "the same in words" }]);
    result(bench, "structured", "content", words).await
}

async fn failed(bench: &Bench) -> Checked {
    result(bench, "fails", "isError", json!(true)).await?;
    let words = json!([{ "type": "text", "text": "it did not work" }]);
    result(bench, "fails", "content", words).await?;
    result(bench, "fails", "structuredContent", json!({ "reason": "rain" })).await
}

async fn refused(bench: &Bench, member: &str, expected: Value) -> Checked {
    let client: GatewayClient = bench.client().await?;
    let answer = bench.call(&client, "refuses").await;
    Ok(same(member, &answer.error()?[member], &expected)?)
}

async fn meta_down(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let answer = bench.call(&client, "meta").await;
    let expected = json!({ "n": 1, "nothing": null });
    Ok(same("`example.com/answer`", &answer.result()?["_meta"]["example.com/answer"], &expected)?)
}

async fn huge(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let answer = bench.call(&client, "huge").await;
    let length = answer.said()?.len();
    Ok(ensure(length == TALL, || format!("{length} bytes came, not {TALL}"))?)
}
