//! A number comes out as it went in, digit for digit, through every door and back.

use serde_json::{Value, json};

use super::script::server;
use super::support::Serving;
use super::wire::modern;
use crate::chance::Chance;
use crate::process::Folder;

/// Numbers that others round, and how each of them is written behind a reader of JSON.
const KNOWN: [(&str, &str); 13] = [
    ("-0", "-0"),
    ("1.10", "1.10"),
    ("3.0", "3.0"),
    ("1E400", "1e+400"),
    ("2e-7", "2e-7"),
    ("9007199254740993", "9007199254740993"),
    ("18446744073709551615", "18446744073709551615"),
    ("18446744073709551616", "18446744073709551616"),
    ("-9223372036854775808", "-9223372036854775808"),
    ("-9223372036854775809", "-9223372036854775809"),
    ("123456789012345678901234567890", "123456789012345678901234567890"),
    ("0.1000000000000000055511151231257827", "0.1000000000000000055511151231257827"),
    ("340282366920938463463374607431768211457", "340282366920938463463374607431768211457"),
];

/// Digits of which the first is none that may not stand there.
fn digits(chance: &mut Chance, most: usize) -> String {
    let count = 1 + chance.below(most);
    let first = char::from_digit(1 + u32::try_from(chance.below(9)).unwrap(), 10);
    let rest = (1..count).map(|_| char::from_digit(u32::try_from(chance.below(10)).unwrap(), 10));
    first.into_iter().chain(rest.collect::<Vec<_>>().into_iter().flatten()).collect()
}

/// A number of up to 60 digits as somebody writes it, and as a reader of JSON passes it on.
fn random(chance: &mut Chance) -> (String, String) {
    let sign = if chance.below(2) == 0 { "-" } else { "" };
    let mut mantissa = format!("{sign}{}", digits(chance, 30));
    if chance.below(2) == 0 {
        mantissa += ".";
        mantissa += &digits(chance, 30);
    }
    match chance.below(4) {
        0 => {
            let power = digits(chance, 3);
            (format!("{mantissa}E{power}"), format!("{mantissa}e+{power}"))
        }
        1 => {
            let power = digits(chance, 3);
            (format!("{mantissa}e-{power}"), format!("{mantissa}e-{power}"))
        }
        _ => (mantissa.clone(), mantissa),
    }
}

/// A server that keeps the literals of what it is given, and gives them back in text and in data.
fn keeper() -> Folder {
    let before = r#"
read = json.loads
json.loads = lambda text: read(text, parse_int=str, parse_float=str) if "tools/call" in text else read(text)
"#;
    let call = r#"
written = "[" + ",".join(asked["params"]["arguments"]["numbers"]) + "]"
result = '{"content":[{"type":"text","text":"%s"}],"structuredContent":{"numbers":%s}}' % (written, written)
print('{"jsonrpc":"2.0","id":%s,"result":%s}' % (asked["id"], result), flush=True)
continue
"#;
    let tools = r#"[{"name": "keep", "annotations": {"readOnlyHint": True}, "inputSchema": {"type": "object",
        "properties": {"numbers": {"type": "array", "items": {"type": "number"}}}}}]"#;
    let folder = Folder::new();
    folder.write("s.py", &server(before, tools, call));
    let source = "mcp = { command = [\"python3\", \"./s.py\"], cwd = \".\" }";
    folder.write("crib.toml", &format!("[[source]]\nid = \"s\"\n{source}\n"));
    folder
}

#[test]
fn no_number_is_rounded_or_written_anew_on_its_way() {
    let mut chance = Chance::of("no_number_is_rounded_or_written_anew_on_its_way");
    let mut table: Vec<(String, String)> =
        KNOWN.map(|(from, to)| (from.to_owned(), to.to_owned())).to_vec();
    table.extend((0..200).map(|_| random(&mut chance)));
    let list = |numbers: Vec<&str>| format!("[{}]", numbers.join(","));
    let written = list(table.iter().map(|(from, _)| from.as_str()).collect());
    let expected = list(table.iter().map(|(_, to)| to.as_str()).collect());
    let arguments = format!("{{\"numbers\":{written}}}");

    let folder = keeper();
    let ran = folder.run(&["call", "s__keep", &arguments, "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let told = ran.json();
    assert_eq!(told["text"], expected, "the command line: {ran:?}");
    assert_eq!(told["structured"]["numbers"].to_string(), expected, "the command line: {ran:?}");

    let serving = Serving::start_in(folder, &[]);
    serving.hears("`s`: 1 tools");
    // As a model of each API calls: an object, and the text of one.
    for arguments in [arguments.clone(), Value::from(arguments.as_str()).to_string()] {
        let body = format!(r#"{{"calls":[{{"name":"s__keep","arguments":{arguments}}}]}}"#);
        let answer = serving.ask("POST", "/v1/calls", &body);
        assert!(answer.body.matches(&expected).count() >= 1, "REST: {answer:?}");
    }
    let call: Value =
        serde_json::from_str(&format!(r#"{{"name":"s__keep","arguments":{arguments}}}"#)).unwrap();
    let answer = modern(&serving, &serving.token, "/mcp", ("tools/call", call));
    assert_eq!(answer.body.matches(&expected).count(), 2, "MCP over HTTP: {answer:?}");
}

#[test]
fn a_number_for_a_text_keeps_its_writing_or_is_refused() {
    let tools = r#"[{"name": "t", "annotations": {"readOnlyHint": True}, "inputSchema": {"type": "object",
        "properties": {"version": {"type": "string"}, "id": {"type": "string"}}}}]"#;
    let call = "answer = {\"content\": [{\"type\": \"text\", \"text\": json.dumps(asked[\"params\"][\"arguments\"])}]}";
    let folder = Folder::new();
    folder.write("s.py", &server("", tools, call));
    let source = "prefix = \"\"\nmcp = { command = [\"python3\", \"./s.py\"], cwd = \".\" }";
    folder.write("crib.toml", &format!("[[source]]\nid = \"s\"\n{source}\n"));
    let ran = folder.run(&["call", "t", r#"{"version": 3.10, "id": 123456789012345678901}"#]);
    let told = json!({ "version": "3.10", "id": "123456789012345678901" });
    // Behind it stands what was put right.
    let heard = ran.out.lines().next().unwrap_or_default();
    let heard: Value = serde_json::from_str(heard).unwrap_or_default();
    assert_eq!(heard, told, "{ran:?}");
    let refused = folder.run(&["call", "t", r#"{"version": 1e5}"#]);
    assert!(refused.code != 0 && refused.out.is_empty(), "{refused:?}");
}
