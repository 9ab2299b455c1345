//! In front of a client that speaks MCP, what a server is told and says comes as it went.

use serde_json::{Value, json};

use super::script;
use super::support::Serving;
use super::wire::{message, modern};
use crate::process::Folder;

/// Tools with large results of each kind, and one that says what it was told.
fn server() -> String {
    let before = r#"
import base64
S = {"type": "object", "properties": {"size": {"type": "integer"}, "s": {"type": "string"},
     "b": {"type": "boolean"}, "e": {"enum": ["Red", "Green"]}}, "required": ["size"]}
ROWS = {"type": "object", "properties": {"rows": {"type": "array"}}, "required": ["rows"]}
R = {"readOnlyHint": True}
NAMES = ["text", "image", "audio", "embedded", "structured", "many", "meta", "fails", "mirror"]
TOOLS = [{"name": n, "inputSchema": S, "annotations": R} for n in NAMES]
TOOLS.append({"name": "typed", "inputSchema": S, "outputSchema": ROWS, "annotations": R})
"#;
    let call = r#"
name, said = asked["params"]["name"], asked["params"].get("arguments", {})
size = said.get("size", 0)
size = size if isinstance(size, int) else 0
data = base64.b64encode(b"p" * (size * 3 // 4)).decode()
more = {}
if name == "mirror":
    line = line[line.index('"arguments":') + 12:].lstrip()
    parts = [{"type": "text", "text": line[:json.JSONDecoder().raw_decode(line)[1]]}]
elif name in ("text", "fails"):
    parts = [{"type": "text", "text": "t" * size}]
    more = {"isError": True} if name == "fails" else {}
elif name == "image":
    parts = [{"type": "text", "text": "a picture"},
             {"type": "image", "data": data, "mimeType": "image/png"}]
elif name == "audio":
    parts = [{"type": "audio", "data": data, "mimeType": "audio/wav"}]
elif name == "embedded":
    resource = {"uri": "file:///x", "mimeType": "application/pdf", "blob": data}
    parts = [{"type": "resource", "resource": resource}]
elif name == "many":
    parts = [{"type": "text", "text": "m" * 1000} for _ in range(size // 1000)]
elif name == "meta":
    parts, more = [{"type": "text", "text": "ok"}], {"_meta": {"big": "q" * size}}
else:
    rows = {"rows": ["r" * 100 for _ in range(size // 100)]}
    parts, more = [{"type": "text", "text": json.dumps(rows)}], {"structuredContent": rows}
answer = {"content": parts, **more}
"#;
    script::server(before, "TOOLS", call.trim())
}

fn serving(more: &str, source: &str) -> Serving {
    let folder = Folder::new();
    folder.write("server.py", &server());
    let text = format!(
        "allow = [\"*\"]\n{more}\n[[source]]\nid = \"l\"\n{source}\nmcp = {{ command = [\"python3\", \
         \"server.py\"], cwd = \".\" }}\n"
    );
    folder.write("crib.toml", &text);
    Serving::start_in(folder, &[])
}

fn call_at(serving: &Serving, path: &str, name: &str, arguments: &Value) -> Value {
    let params = json!({ "name": name, "arguments": arguments });
    message(&modern(serving, &serving.token, path, ("tools/call", params)))
}

fn call(serving: &Serving, name: &str, arguments: &Value) -> Value {
    call_at(serving, "/mcp", name, arguments)["result"].clone()
}

fn letters(block: &Value) -> usize {
    let text = ["/text", "/data", "/resource/blob"].iter().find_map(|at| block.pointer(at));
    text.and_then(Value::as_str).unwrap_or_default().len()
}

#[test]
fn large_results_of_one_whole_server_come_as_they_are() {
    let serving = serving("", "prefix = \"\"");
    for size in [200_000, 400_000, 3_000_000] {
        for name in ["text", "fails", "image", "audio", "embedded", "structured", "typed", "many"] {
            let result = call(&serving, name, &json!({ "size": size }));
            assert_eq!(result["isError"], name == "fails", "{name} {size}");
            assert_eq!(result.get("_meta"), None, "{name} {size}");
            let blocks = result["content"].as_array().unwrap();
            let expected = match name {
                "many" => size / 1_000,
                "image" => 2,
                _ => 1,
            };
            assert_eq!(blocks.len(), expected, "{name} {size}");
            let all: usize = blocks.iter().map(letters).sum();
            assert!(all >= size, "{name} {size}: {all}");
            let rows = result["structuredContent"]["rows"].as_array().map_or(0, Vec::len);
            let typed = ["structured", "typed"].contains(&name);
            assert_eq!(rows, if typed { size / 100 } else { 0 }, "{name} {size}");
        }
        let meta = call(&serving, "meta", &json!({ "size": size }));
        assert_eq!(meta["_meta"]["big"].as_str().map(str::len), Some(size));
    }
}

#[test]
fn data_of_one_server_among_several_comes_whole_and_its_texts_are_cut() {
    let serving = serving("", "");
    for name in ["image", "audio", "embedded"] {
        let result = call(&serving, &format!("l__{name}"), &json!({ "size": 3_000_000 }));
        assert_eq!((&result["isError"], result.get("_meta")), (&json!(false), None), "{name}");
        let all: usize = result["content"].as_array().unwrap().iter().map(letters).sum();
        assert!(all >= 3_000_000, "{name}: {all}");
    }
    let typed = call(&serving, "l__typed", &json!({ "size": 1_000_000 }));
    assert_eq!(typed["isError"], false);
    assert_eq!(typed["structuredContent"]["rows"].as_array().unwrap().len(), 10_000);
    let text = call(&serving, "l__text", &json!({ "size": 1_000_000 }));
    let (shown, told) = (&text["content"][0], text["content"][1]["text"].as_str().unwrap());
    assert_eq!((letters(shown), &text["isError"]), (256 * 1024, &json!(false)));
    assert!(told.contains("262144 of 1000000 bytes are shown"), "{told}");
    assert_eq!(text["_meta"]["toolcrib/result"]["cut"], true);
}

#[test]
fn what_is_cut_is_read_whole_by_its_handle() {
    let serving = serving("[limits]\nmax_data = \"100KiB\"", "prefix = \"\"");
    let cut = |name: &str| {
        let result = call(&serving, name, &json!({ "size": 300_000 }));
        assert_eq!(result["isError"], false, "{name}");
        assert_eq!(result["_meta"]["toolcrib/result"]["cut"], true, "{name}");
        let handle = result["_meta"]["toolcrib/result"]["handle"].as_str().unwrap().to_owned();
        (result, handle)
    };
    let read = |arguments: Value| {
        let (mut offset, mut all) = (0, String::new());
        loop {
            let mut asked = arguments.clone();
            asked["offset"] = json!(offset);
            asked["limit"] = json!(65_536);
            let piece = call(&serving, "read_result", &asked);
            assert_eq!(piece["isError"], false, "{piece}");
            let text = piece["content"][0]["text"].as_str().unwrap();
            offset += text.len();
            all += text;
            if piece["content"][1]["text"].as_str().unwrap().contains("the end") {
                return all;
            }
        }
    };
    let (image, handle) = cut("image");
    assert_eq!(image["content"][0]["text"], "a picture");
    assert!(image["content"][1]["text"].as_str().unwrap().contains("is not shown here"));
    let first = call(&serving, "read_result", &json!({ "handle": handle }));
    let place = first["content"][1]["text"].as_str().unwrap();
    assert!(place.contains("part 1: image/png in base64, 300000 letters"), "{place}");
    assert_eq!(read(json!({ "handle": handle, "part": 1 })), "cHBw".repeat(75_000));
    let (typed, handle) = cut("typed");
    assert_eq!(typed.get("structuredContent"), None);
    let rows: Value = serde_json::from_str(&read(json!({ "handle": handle, "path": "" }))).unwrap();
    assert_eq!(rows["rows"].as_array().unwrap().len(), 3_000);
    let path = format!("/v1/results/{handle}?part=0&limit=1000000");
    let whole = serving.ask("GET", &path, "").json();
    assert_eq!((&whole["next"], &whole["total"]), (&Value::Null, &json!(312_010)));
}

const WRITTEN: &[&str] = &[
    r#"{"size":"5"}"#,
    r#"{"size":5.0}"#,
    r#"{"size":5,"s":5}"#,
    r#"{"size":5,"b":"true"}"#,
    r#"{"size":5,"e":"red"}"#,
    r#"{"size":5,"unknown":1}"#,
    r#"{"size":null}"#,
    r#"{"Size":5}"#,
    "{}",
];

#[test]
fn arguments_go_as_they_came_to_one_whole_server() {
    let serving = serving("", "prefix = \"\"");
    for written in WRITTEN {
        let result = call(&serving, "mirror", &serde_json::from_str(written).unwrap());
        let told = json!([{ "type": "text", "text": written }]);
        let seen = result["content"].to_string().replace(", ", ",").replace(": ", ":");
        assert_eq!(seen, told.to_string().replace(", ", ",").replace(": ", ":"), "{written}");
        assert_eq!((&result["isError"], result.get("_meta")), (&json!(false), None), "{written}");
    }
    // Models come by another door.
    let calls = json!({ "calls": [{ "name": "mirror", "arguments": { "size": "5" } }] });
    let told = serving.call(&calls);
    assert!(told["responses"][0]["text"].as_str().unwrap().contains("put right"), "{told}");
}

#[test]
fn whether_arguments_are_looked_at_is_said_by_source_profile_and_tool() {
    let profiles = "[profile.loose]\nvalidate = \"off\"\n[profile.close]\nvalidate = \"strict\"\n\
                    [profile.usual]\n[tool.l__text]\nvalidation = \"strict\"\n";
    let is_refused = |answer: &Value| answer["result"]["isError"] == true;
    let text = json!({ "size": "5" });
    for (source, path, refused, notes) in [
        ("", "/mcp", false, true),
        ("", "/mcp/usual", false, true),
        ("", "/mcp/loose", false, false),
        ("", "/mcp/close", true, false),
        ("validate = \"off\"", "/mcp", false, false),
        ("validate = \"off\"", "/mcp/close", true, false),
        ("validate = \"strict\"", "/mcp", true, false),
    ] {
        let serving = serving("", &format!("{source}\n"));
        let config = std::fs::read_to_string(serving.folder.path().join("crib.toml")).unwrap();
        drop(serving);
        let folder = Folder::new();
        folder.write("server.py", &server());
        folder.write("crib.toml", &format!("{config}\n{profiles}"));
        let serving = Serving::start_in(folder, &[]);
        let answer = call_at(&serving, path, "l__mirror", &text);
        assert_eq!(is_refused(&answer), refused, "{source} {path}: {answer}");
        let told = answer["result"]["_meta"]["toolcrib/notes"].is_array();
        assert_eq!(told, notes, "{source} {path}: {answer}");
        // What was put right is no content.
        assert!(refused || answer["result"]["content"].as_array().unwrap().len() == 1, "{answer}");
        // Of one tool the file says it, whatever else it says.
        assert!(is_refused(&call_at(&serving, path, "l__text", &text)), "{source} {path}");
    }
    // One whole server of which the file says how.
    let serving = serving("", "prefix = \"\"\nvalidate = \"coerce\"");
    let answer = call_at(&serving, "/mcp", "mirror", &text);
    assert_eq!(answer["result"]["content"], json!([{ "type": "text", "text": "{\"size\":5}" }]));
    assert!(answer["result"]["_meta"]["toolcrib/notes"][0].is_string(), "{answer}");
}
