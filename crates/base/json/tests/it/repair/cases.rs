//! Each repair with its notes, and what is refused.

use serde_json::{Value, json};
use toolcrib_json::repair::{read, read_strict};

use super::told;

fn assert_told(cases: &[(&str, &str)]) {
    let expected: Vec<_> = cases.iter().map(|(text, told)| format!("{text} => {told}")).collect();
    let got: Vec<_> =
        cases.iter().map(|(text, _)| format!("{text} => {}", told(read(text)))).collect();
    assert_eq!(got.join("\n"), expected.join("\n"));
}

/// A text, the value it is read as, and the notes.
#[rustfmt::skip]
const REPAIRED: &[(&str, &str)] = &[
    ("```json\n{\"a\": 1}\n```", r#"{"a":1} | removed a code fence at 1:1"#),
    ("Sure, here you go:\n\n{\"a\": 1}\n\nAnything else?", r#"{"a":1} | removed text around the JSON at 1:1 and 1 more"#),
    (r#"{"a": 1} {"a": 1}"#, r#"{"a":1} | removed an empty or repeated document at 1:1"#),
    ("{\"a\": 1}\n{\"b\": 2}", r#"[{"a":1},{"b":2}] | put several documents into an array at 1:1"#),
    (r#"{"a": 1} {}"#, r#"{"a":1} | removed an empty or repeated document at 1:1"#),
    ("```\n{\"a\": 1}\n```\nand\n```\n[2]\n```", r#"[{"a":1},[2]] | removed a code fence at 1:1 and 1 more; put several documents into an array at 1:1"#),
    ("\u{feff}{\"a\": 1}", r#"{"a":1} | removed unusual white space at 1:1"#),
    (r#"<tool_call>{"a": 1}</tool_call>"#, r#"{"a":1} | removed text around the JSON at 1:1 and 1 more"#),
    (r#"call({"a": 1})"#, r#"{"a":1} | removed text around the JSON at 1:1; removed a stray closing bracket at 1:14"#),
    (r#"See [1]: {"a": 1}"#, r#"{"a":1} | removed text around the JSON at 1:1"#),
    (r#"{"a": 1,}"#, r#"{"a":1} | removed a trailing comma at 1:8"#),
    ("[1, 2,]", "[1,2] | removed a trailing comma at 1:6"),
    (r#"{,"a": 1}"#, r#"{"a":1} | removed an extra comma at 1:2"#),
    ("[1,, 2]", "[1,2] | removed an extra comma at 1:4"),
    (r#"{"a": 1 "b": 2}"#, r#"{"a":1,"b":2} | added a missing comma at 1:9"#),
    ("[1 2 3]", "[1,2,3] | added a missing comma at 1:4 and 1 more"),
    (r#"{"a" 1}"#, r#"{"a":1} | added a missing colon at 1:6"#),
    (r#"{"a" = 1, "b" => 2}"#, r#"{"a":1,"b":2} | added a missing colon at 1:6 and 1 more"#),
    (r#"{"a":}"#, r#"{"a":""} | read a missing value as an empty string at 1:6"#),
    (r#"{"a": "b"#, r#"{"a":"b"} | closed an open bracket at 1:9; closed an open string at 1:9"#),
    (r#"{"a": [1, {"b": 2"#, r#"{"a":[1,{"b":2}]} | closed an open bracket at 1:18 and 2 more"#),
    (r#"{"a": 1"#, r#"{"a":1} | closed an open bracket at 1:8"#),
    (r#"{"a": 1, "b"#, r#"{"a":1} | removed an unfinished value at the end at 1:10; closed an open bracket at 1:12; closed an open string at 1:12"#),
    (r#"{"a": 1, "b": "#, r#"{"a":1} | removed an unfinished value at the end at 1:10; closed an open bracket at 1:15"#),
    (r#"{"a": tru"#, r#"{"a":true} | rewrote a literal at 1:7; closed an open bracket at 1:10"#),
    ("[1, -", "[1] | removed an unfinished value at the end at 1:5; closed an open bracket at 1:6"),
    (r#""a": 1, "b": 2"#, r#"{"a":1,"b":2} | added a missing opening brace at 1:1; closed an open bracket at 1:15"#),
    (r#"["a": 1]"#, r#"[{"a":1}] | added a missing opening brace at 1:2; closed an open bracket at 1:8"#),
    (r#"{"a": [1, 2}"#, r#"{"a":[1,2]} | closed an open bracket at 1:12"#),
    (r#"[{"a": 1}}, {"b": 2}]"#, r#"[{"a":1},{"b":2}] | removed a stray closing bracket at 1:10"#),
    (r#"{"a": 1}]"#, r#"{"a":1} | removed a stray closing bracket at 1:9"#),
    (r#"{"a": 1}, "b": 2}"#, r#"{"a":1,"b":2} | removed an early closing bracket at 1:8"#),
    (r#"{"a": [1], [2]}"#, r#"{"a":[1,2]} | removed an early closing bracket at 1:12"#),
    (r#"{{"a": 1}}"#, r#"{"a":1} | removed doubled braces at 1:2"#),
    (r#"{"a": "b"", "c": 1}"#, r#"{"a":"b","c":1} | read repeated quotes as one at 1:9"#),
    (r#"{"a": 12", "b": x"}"#, r#"{"a":12,"b":"x"} | removed a stray quote at 1:9 and 1 more; quoted a bare value at 1:17"#),
    (r#"{""a"": ""b""}"#, r#"{"a":"b"} | read repeated quotes as one at 1:2 and 3 more"#),
    ("{\"a\": \"\"\"x\n\"y\" z\"\"\"}", r#"{"a":"x\n\"y\" z"} | read repeated quotes as one at 1:7 and 1 more; escaped a raw control character at 1:11; escaped a quote inside a string at 2:1 and 1 more"#),
    (r#"{"a": "say "hi" now"}"#, r#"{"a":"say \"hi\" now"} | escaped a quote inside a string at 1:12 and 1 more"#),
    (r#"{"a": "x, "b": 1}"#, r#"{"a":"x","b":1} | closed an open string at 1:9"#),
    ("{\"a\": \"x\n \"b\": 1}", r#"{"a":"x","b":1} | closed an open string at 1:9; added a missing comma at 2:2"#),
    ("{“a”: “b”}", r#"{"a":"b"} | read typographic quotes as double quotes at 1:2 and 1 more"#),
    ("{`a`: `b`}", r#"{"a":"b"} | read single quotes as double quotes at 1:2 and 1 more"#),
    ("{'a': 'b'}", r#"{"a":"b"} | read single quotes as double quotes at 1:2 and 1 more"#),
    ("{\"a\": \"x\ny\tz\"}", r#"{"a":"x\ny\tz"} | escaped a raw control character at 1:9 and 1 more"#),
    (r#"{"a": "C:\Users\d"}"#, r#"{"a":"C:\\Users\\d"} | kept a stray backslash at 1:10 and 1 more"#),
    (r#"{"a": "^\d+\.$"}"#, r#"{"a":"^\\d+\\.$"} | kept a stray backslash at 1:9 and 1 more"#),
    (r#"{"a": "it\'s \x41 \U0001F600 \ud800"}"#, r#"{"a":"it's A 😀 �"} | rewrote an escape at 1:10 and 3 more"#),
    ("{a: 1, b-c: 2, first name: 3}", r#"{"a":1,"b-c":2,"first name":3} | quoted a bare key at 1:2 and 2 more"#),
    (r#"{"a": hello world, "b": 1}"#, r#"{"a":"hello world","b":1} | quoted a bare value at 1:7"#),
    (r#"{"a": http://x.org/a?b=c, "b": 1}"#, r#"{"a":"http://x.org/a?b=c","b":1} | quoted a bare value at 1:7"#),
    (r#"{"a": he said 'hi', "b": 1}"#, r#"{"a":"he said 'hi'","b":1} | quoted a bare value at 1:7"#),
    (r#"{"a": 1,234, "b": 1}"#, r#"{"a":"1,234","b":1} | quoted a bare value at 1:7"#),
    (r#"{"a": #fff, "b": 01234, "c": 10%}"#, r##"{"a":"#fff","b":"01234","c":"10%"} | quoted a bare value at 1:7 and 2 more"##),
    (r#"{"a": 1, NOTE "b": 2}"#, r#"{"a":1,"b":2} | removed stray text at 1:10"#),
    (r#"{"a": True, "b": undefined}"#, r#"{"a":true,"b":null} | rewrote a literal at 1:7 and 1 more"#),
    (r#"{"a": .5, "b": 1., "c": +1, "d": 0x1F, "e": 1_000, "f": -.5}"#, r#"{"a":0.5,"b":1.0,"c":1,"d":31,"e":1000,"f":-0.5} | rewrote a number at 1:7 and 5 more"#),
    (r#"{"a": NaN, "b": -Infinity}"#, r#"{"a":"NaN","b":"-Infinity"} | read a number that is not finite as text at 1:7 and 1 more"#),
    (r#"{"a": 1e999}"#, r#"{"a":1e+999} | "#),
    (r#"{"a": (1, 2), "b": {3, 4}, "c": (5)}"#, r#"{"a":[1,2],"b":[3,4],"c":5} | read a tuple or set as an array at 1:7 and 1 more; removed parentheses at 1:33"#),
    ("[1, ..., 9]", "[1,9] | removed an ellipsis at 1:5"),
    (r#"{"a": 1, ...}"#, r#"{"a":1} | removed a trailing comma at 1:8; removed an ellipsis at 1:10"#),
    ("{\"a\": 1, // one\n \"b\": /* two */ 2 # end\n}", r#"{"a":1,"b":2} | removed a comment at 1:10 and 2 more"#),
    (r#"{\"a\": \"b\"}"#, r#"{"a":"b"} | unescaped the whole text at 1:1"#),
    (r#"{\n  \"a\": \"b\\nc\"\n}"#, r#"{"a":"b\nc"} | unescaped the whole text at 1:1"#),
    (r#"{"a": u'b', b'c': 1}"#, r#"{"a":"b","c":1} | rewrote a literal at 1:7 and 1 more; read single quotes as double quotes at 1:8 and 1 more"#),
    ("True", "true | rewrote a literal at 1:1"),
    ("'abc'", r#""abc" | read single quotes as double quotes at 1:1"#),
    ("{\"a\":\u{a0}1}", r#"{"a":1} | removed unusual white space at 1:1"#),
    (r#"{"path": "a", "path": "a",}"#, r#"{"path":"a"} | removed a trailing comma at 1:26"#),
    ("[‘a’, „b“]", r#"["a","b"] | read typographic quotes as double quotes at 1:2 and 1 more"#),
    (r#"{"a": "He said: \"x\"", 'b': 1}"#, r#"{"a":"He said: \"x\"","b":1} | read single quotes as double quotes at 1:25"#),
    ("{\"a\": \"1\" /* x */, \"b\": \"2\" // y\n}", r#"{"a":"1","b":"2"} | removed a comment at 1:11 and 1 more"#),
    ("{\"a\": \"x\"\n\"b\": \"y\"\n}", r#"{"a":"x","b":"y"} | added a missing comma at 2:1"#),
    (r#"{"a": {"b": "x}, "c": "y"}"#, r#"{"a":{"b":"x"},"c":"y"} | closed an open string at 1:15"#),
    (r#"[{"a": "x}, {"a": "y"}]"#, r#"[{"a":"x"},{"a":"y"}] | closed an open string at 1:10"#),
    (r#"{"sql": "select "a", "b" from t", "n": 1}"#, r#"{"sql":"select \"a\", \"b\" from t","n":1} | escaped a quote inside a string at 1:17 and 3 more"#),
    (r#"{"cmd": "echo "a" > b.txt", "n": 1}"#, r#"{"cmd":"echo \"a\" > b.txt","n":1} | escaped a quote inside a string at 1:15 and 1 more"#),
    (r#"{"code": "print("hi")"}"#, r#"{"code":"print(\"hi\")"} | escaped a quote inside a string at 1:17 and 1 more"#),
    (r#"{"code": "print("hi")", "n": 1,}"#, r#"{"code":"print(\"hi\")","n":1} | escaped a quote inside a string at 1:17 and 1 more; removed a trailing comma at 1:31"#),
    (r#"{"code": "d = {"a": 1}", "n": 1}"#, r#"{"code":"d = {\"a\": 1}","n":1} | escaped a quote inside a string at 1:16 and 1 more"#),
    (r#"{"code": "f("a", "b")", "n": 1}"#, r#"{"code":"f(\"a\", \"b\")","n":1} | escaped a quote inside a string at 1:13 and 3 more"#),
    (r#"{"html": "<a href="x">y</a>", "n": 1}"#, r#"{"html":"<a href=\"x\">y</a>","n":1} | escaped a quote inside a string at 1:19 and 1 more"#),
    (r#"{"code": "x = ["a", "b"]", "n": 1}"#, r#"{"code":"x = [\"a\", \"b\"]","n":1} | escaped a quote inside a string at 1:16 and 3 more"#),
];

/// A text and why it is not read.
#[rustfmt::skip]
const REFUSED: &[(&str, &str)] = &[
    (r#"{"a": "x"; "b": 1}"#, r#"refused: cannot read the JSON at 1:10: expected a comma or a closing bracket, found `; "b": 1}`: write the whole document again as strict JSON"#),
    ("", "refused: the text is empty: write one JSON document, such as {}"),
    ("  \n", "refused: the text is empty: write one JSON document, such as {}"),
    ("Hello there", "refused: no JSON in the text, it begins with `Hello there`: write one JSON object and no prose"),
    ("I think {something like this} is fine", "refused: no JSON in the text, it begins with `I think {something like this} is...`: write one JSON object and no prose"),
    ("{something}", "refused: no JSON in the text, it begins with `{something}`: write one JSON object and no prose"),
    ("[see the note] and go", "refused: no JSON in the text, it begins with `[see the note] and go`: write one JSON object and no prose"),
    (r#"{"a": 1, "a": 2}"#, "refused: the key `a` stands twice in one object with different values, again before 1:16: write it once"),
    (r#"{"a": 1, 'a': 2}"#, "refused: the key `a` stands twice in one object with different values, again before 1:16: write it once"),
    ("[[1]: 2]", "refused: cannot read the JSON at 1:5: expected a value, found `: 2]`: write the whole document again as strict JSON"),
    (r#"{"a": 1, {"b": 2}}"#, r#"refused: cannot read the JSON at 1:10: expected a key in double quotes, found `{"b": 2}}`: write the whole document again as strict JSON"#),
    (r#"{"a": "b": 1}"#, "refused: cannot read the JSON at 1:10: expected a comma or a closing bracket, found `: 1}`: write the whole document again as strict JSON"),
    ("}", "refused: no JSON in the text, it begins with `}`: write one JSON object and no prose"),
    ("(a remark) about it", "refused: no JSON in the text, it begins with `(a remark) about it`: write one JSON object and no prose"),
    (r#""Hello" is what I said"#, r#"refused: no JSON in the text, it begins with `"Hello" is what I said`: write one JSON object and no prose"#),
    (r#"""""""""#, r#"refused: no JSON in the text, it begins with `"""""""`: write one JSON object and no prose"#),
    (r#"{"a": [1], [2]]}"#, "refused: cannot read the JSON at 1:15: expected a key in double quotes, found `]}`: write the whole document again as strict JSON"),
    ("{: 1}", "refused: no JSON in the text, it begins with `{: 1}`: write one JSON object and no prose"),
    (r#"{"a": 1, "b": [1, : 2]}"#, "refused: cannot read the JSON at 1:19: expected a value, found `: 2]}`: write the whole document again as strict JSON"),
];

#[test]
fn each_repair_is_made_and_noted() {
    assert_told(REPAIRED);
}

#[test]
fn what_has_no_plain_intent_is_refused_with_the_cure() {
    assert_told(REFUSED);
}

/// A number as it is written, which is not how `json!` writes it.
#[expect(clippy::unwrap_used, reason = "a test may fail loudly")]
fn written(number: &str) -> Value {
    serde_json::from_str(number).unwrap()
}

#[test]
fn python_literals_are_read_as_what_they_say() {
    let cases = [
        ("{'a': None, 'b': True, 'c': False}", json!({"a": null, "b": true, "c": false})),
        ("{'a': \"it's\", 'b': 'say \"hi\"'}", json!({"a": "it's", "b": "say \"hi\""})),
        (
            r"{'a': 'it\'s', 'b': 'x\\y', 'c': '\n\t'}",
            json!({"a": "it's", "b": "x\\y", "c": "\n\t"}),
        ),
        ("{'a': 'it's fine', 'b': 1}", json!({"a": "it's fine", "b": 1})),
        (
            "{'a': (1, 'b', None), 'c': (1,), 'd': ()}",
            json!({"a": [1, "b", null], "c": [1], "d": []}),
        ),
        ("{'a': [{'b': ['c',],},],}", json!({"a": [{"b": ["c"]}]})),
        ("{'a': {'x', 'y'}, 1: 'one', None: 2}", json!({"a": ["x", "y"], "1": "one", "None": 2})),
        (
            "{'a': 'x, y: z', 'b': '{not: an object}'}",
            json!({"a": "x, y: z", "b": "{not: an object}"}),
        ),
        ("{'a': '', 'b': \"\", '': ''}", json!({"a": "", "b": "", "": ""})),
        ("{'a': '''two\nlines'''}", json!({"a": "two\nlines"})),
        (
            r"{'a': 'C:\\dir', 'b': '\xe9', 'c': '\u00e9'}",
            json!({"a": "C:\\dir", "b": "é", "c": "é"}),
        ),
        (
            "{'a': -1.5e-3, 'b': 1_000, 'c': 0xff}",
            json!({"a": written("-1.5e-3"), "b": 1000, "c": 255}),
        ),
        ("[{'a': 1}, {'a': 2}]", json!([{"a": 1}, {"a": 2}])),
        ("('a', 'b')", json!(["a", "b"])),
    ];
    for (text, expected) in cases {
        let read = read(text).unwrap();
        assert_eq!(read.value, expected, "{text}");
        assert_ne!(read.repairs, [], "{text}");
    }
}

#[test]
fn a_repeated_key_is_read_if_its_values_are_equal_and_refused_if_not() {
    let equal = r#"{"name": "ok", "x": 1, "name": "ok"}"#;
    assert_eq!(read_strict(equal), Ok(json!({"name": "ok", "x": 1})));
    assert_eq!(told(read(equal)), r#"{"name":"ok","x":1} | "#);
    for text in [
        r#"{"name": "ok", "name": "evil"}"#,
        r#"{"name": "ok", "n\u0061me": "evil"}"#,
        r#"[{"name": 1, "name": 1.0}]"#,
        r#"{"name": "ok", 'name': "evil"}"#,
        r#"{"name": "ok", "name": "evil",}"#,
    ] {
        assert!(told(read(text)).starts_with("refused: the key `name` stands twice"), "{text}");
    }
    let strict = read_strict(r#"{"name": "ok", "name": "evil"}"#).unwrap_err().to_string();
    assert!(strict.starts_with("the key `name` stands twice"), "{strict}");
}

#[test]
fn strict_reading_repairs_nothing() {
    for text in ["{'a': 1}", r#"{"a": 1,}"#, r#"{"a": 1} x"#, "", r#"{"a": NaN}"#, "// c\n{}"] {
        let refusal = read_strict(text).unwrap_err().to_string();
        assert!(refusal.starts_with("not valid JSON: "), "{text}: {refusal}");
    }
}
