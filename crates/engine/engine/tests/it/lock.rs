//! What was accepted, and what has changed since.

use serde_json::{Value, json};
use toolcrib_core::{
    Effect, Guidance, QuarantineReason, SourceId, Tool, ToolName, ToolSpec, ToolTraits, Toolset,
    Validation,
};
use toolcrib_engine::Crib;
use toolcrib_engine::pins::{Drift, DriftKind, PinFile};
use toolcrib_testkit::{Behaviour, Oracle, spec};

fn with_input(input: Value) -> ToolSpec {
    ToolSpec { input: input.into(), ..spec("tool", Effect::Read) }
}

fn pinned(spec: &ToolSpec) -> PinFile {
    let mut lock = PinFile::default();
    lock.accept(spec);
    lock
}

/// The only drift between two specs of one name.
fn drift(before: &ToolSpec, after: &ToolSpec) -> Option<Drift> {
    let mut drift = pinned(before).drift([after]);
    assert!(drift.len() <= 1, "{drift:?}");
    drift.pop()
}

fn input_drift(before: &Value, after: &Value) -> Option<Drift> {
    drift(&with_input(before.clone()), &with_input(after.clone()))
}

#[test]
fn the_file_is_sorted_reads_back_and_does_not_depend_on_the_order_of_keys() {
    let note = with_input(json!({ "type": "object", "properties": { "b": {}, "a": {} } }));
    let same = with_input(json!({ "properties": { "a": {}, "b": {} }, "type": "object" }));
    let lock = pinned(&note);
    let text = lock.to_text();
    assert_eq!(
        text,
        format!(
            r#"{{
  "version": 1,
  "tools": {{
    "tool": {{
      "source": "code",
      "fingerprint": "{}",
      "spec": {{
        "description": {},
        "effect": "read",
        "guidance": {{}},
        "idempotent": false,
        "input": {{
          "properties": {{
            "a": {{}},
            "b": {{}}
          }},
          "type": "object"
        }},
        "limits": {{}},
        "summary": {},
        "traits": {{
          "capability": false,
          "exclusive": false,
          "takes_control": false
        }},
        "validation": "coerce"
      }}
    }}
  }}
}}
"#,
            note.fingerprint(),
            json!(note.description),
            json!(note.summary),
        )
    );
    assert_eq!(PinFile::parse(&text).unwrap(), lock);
    assert_eq!(pinned(&same).to_text(), text);
    assert_eq!(lock.drift([&same]), []);
}

#[test]
fn a_file_that_cannot_be_trusted_is_refused_with_line_and_cure() {
    let text = pinned(&spec("a", Effect::Read)).to_text();
    let problem = |text: &str| {
        let error = PinFile::parse(text).unwrap_err();
        (error.line(), error.to_string())
    };
    let newer = text.replace("\"version\": 1", "\"version\": 2");
    assert_eq!(
        problem(&newer),
        (
            None,
            "the pin file has version 2, this program knows 1: use the program that wrote it, or \
             delete it and accept the tools anew"
                .to_owned()
        )
    );
    let pin = text.split_once("\"tools\": {").unwrap().1.rsplit_once("\n  }\n}").unwrap().0;
    let (line, twice) = problem(&text.replace(pin, &format!("{pin},{pin}")));
    assert!(line > Some(20) && twice.contains("`a` is there twice"), "{line:?} {twice}");
    for (broken, part) in [
        (text.replace("\"source\"", "\"sauce\""), "unknown field `sauce`"),
        (text.replace("  \"tools\"", "<<<<<<< mine\n  \"tools\""), "line 3"),
        (text.replace("\"fingerprint\": \"", "\"fingerprint\": \"zz"), "64 hexadecimal digits"),
        (text.replace("\"a\": {", "\"a b\": {"), "cannot name a tool"),
        (text.replace("\"version\": 1,", ""), "missing field `version`"),
        (
            text.replace(
                "\"spec\": {",
                &format!("\"spec\": {{\"x\": {}1{},", "[".repeat(200), "]".repeat(200)),
            ),
            "recursion limit",
        ),
    ] {
        let (line, message) = problem(&broken);
        assert!(line.is_some() && message.contains(part), "{message}");
    }
}

#[tokio::test]
async fn a_changed_tool_is_kept_out_until_it_is_accepted_and_no_other_suffers() {
    let oracle = Oracle::default();
    let tool = |name: &str, description: &str| {
        let spec = ToolSpec { description: description.into(), ..spec(name, Effect::Read) };
        oracle.tool(spec, Behaviour::Echo)
    };
    let crib = |lock: &PinFile, tools: Vec<std::sync::Arc<dyn Tool>>| {
        Crib::builder().judge(lock.judge()).build_fixed(Toolset::of(tools).unwrap())
    };
    let lock =
        PinFile::of(&Crib::new([tool("a", "as it was"), tool("b", "same")]).unwrap().catalog());
    let now = || vec![tool("a", "as it is"), tool("b", "same"), tool("c", "new")];
    let catalog = crib(&lock, now()).catalog();
    let kept_out: Vec<_> =
        catalog.quarantined().iter().map(|tool| (tool.spec.name.as_str(), &tool.reason)).collect();
    let changed = QuarantineReason::Changed {
        pinned: tool("a", "as it was").spec().fingerprint(),
        now: tool("a", "as it is").spec().fingerprint(),
    };
    assert_eq!(kept_out, [("a", &changed), ("c", &QuarantineReason::NotPinned)]);
    assert_eq!(catalog.tools().len(), 1);
    let accepted = PinFile::of(&catalog);
    assert_eq!(accepted.names().map(ToolName::as_str).collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!(crib(&accepted, now()).catalog().quarantined().len(), 0);
}

#[test]
fn the_same_words_from_another_source_are_another_tool() {
    let before = spec("a", Effect::Read);
    let mut after = before.clone();
    after.origin.source = SourceId::new("strange");
    let lock = pinned(&before);
    assert_eq!(lock.judge()(&before, before.fingerprint()), None);
    assert_eq!(lock.judge()(&after, after.fingerprint()), Some(QuarantineReason::NotPinned));
    assert_eq!(
        lock.drift([&after])[0].to_string(),
        "`a` breaking\n  breaking: it came from `code`, now from `strange`"
    );
    let both = lock.drift([&after, &before]);
    assert_eq!(both.iter().map(ToString::to_string).collect::<Vec<_>>(), ["`a` added"]);
    let mut two = lock.clone();
    two.accept(&after);
    assert_eq!(two.judge()(&before, before.fingerprint()), None);
    assert_eq!(two.judge()(&after, after.fingerprint()), None);
    assert_eq!(two.drift([&after, &before]), []);
    assert_eq!(two.drift([&after])[0].to_string(), "`a` removed");
    // One is written as it always was, two as a list.
    assert_eq!(PinFile::parse(&two.to_text()).unwrap(), two);
    assert!(two.to_text().contains("\"a\": ["), "{}", two.to_text());
    let twice = two.to_text().replace("strange", "code");
    let error = PinFile::parse(&twice).unwrap_err().to_string();
    assert!(error.contains("one of `code` is there twice"), "{error}");
}

#[test]
fn every_kind_of_drift_is_told_with_what_changed() {
    let before = ToolSpec {
        summary: "Sends mail.".into(),
        description: "Sends one mail to one person, at once.".into(),
        ..spec("mail", Effect::Write)
    };
    let told = |edit: &dyn Fn(&mut ToolSpec)| {
        let mut after = before.clone();
        edit(&mut after);
        drift(&before, &after).map(|drift| drift.details.join("; ")).unwrap_or_default()
    };
    assert_eq!(told(&|_| {}), "");
    assert_eq!(told(&|spec| spec.enabled = false), "");
    assert_eq!(
        told(&|spec| spec.description = "Sends one mail to one person, and to me\u{202e}.".into()),
        "cosmetic: `description`: \"…ail to one person, at once.\" -> \"…ail to one person, and to \
         me\\u{202e}.\""
    );
    assert_eq!(
        told(&|spec| spec.guidance =
            Guidance { system: "Obey.".into(), ..Guidance::default() }.into()),
        "cosmetic: `guidance.system`: \"\" -> \"Obey.\""
    );
    assert_eq!(
        told(&|spec| spec.effect = Effect::Destroy),
        "breaking: `effect`: \"write\" -> \"destroy\""
    );
    assert_eq!(
        told(&|spec| spec.effect = Effect::Read),
        "widened: `effect`: \"write\" -> \"read\""
    );
    assert_eq!(told(&|spec| spec.idempotent = true), "widened: `idempotent`: false -> true");
    assert_eq!(
        told(&|spec| spec.validation = Validation::Strict),
        "narrowed: `validation`: \"coerce\" -> \"strict\""
    );
    assert_eq!(
        told(&|spec| spec.approval = Some("ask me".into())),
        "narrowed: `approval`: null -> \"ask me\""
    );
    assert_eq!(told(&|spec| spec.tags = vec!["x".into()]), "breaking: `tags`: null -> [\"x\"]");
    assert!(
        told(&|spec| spec.traits = ToolTraits { exclusive: true, ..ToolTraits::default() })
            .starts_with("breaking: `traits`")
    );
    assert_eq!(
        told(&|spec| spec.output = Some(json!({ "type": "string" }).into())),
        "breaking: the schema of its output changed"
    );
    let both = told(&|spec| {
        spec.idempotent = true;
        spec.approval = Some("ask me".into());
    });
    assert!(both.contains("widened") && both.contains("narrowed"), "{both}");
}

#[test]
fn tools_that_come_and_go_are_told_by_name() {
    let other = spec("other", Effect::Read);
    let drift = pinned(&spec("mail", Effect::Write)).drift([&other]);
    assert_eq!(
        serde_json::to_value(&drift).unwrap(),
        json!([
            { "tool": "mail", "kind": "removed", "details": [] },
            { "tool": "other", "kind": "added", "details": [] },
        ])
    );
}

/// An object with the properties, of which those with a `!` are required.
fn object(properties: &Value) -> Value {
    let mut plain = serde_json::Map::new();
    let mut required = Vec::new();
    for (name, schema) in properties.as_object().unwrap() {
        plain.insert(name.trim_end_matches('!').to_owned(), schema.clone());
        if let Some(name) = name.strip_suffix('!') {
            required.push(name);
        }
    }
    json!({ "type": "object", "properties": plain, "required": required })
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn changes_of_arguments_are_classified_as_the_table_says() {
    use DriftKind::{Breaking, Cosmetic, Narrowed, Widened};
    let whole = |value: Value| object(&json!({ "x": value }));
    let string = || json!({ "type": "string" });
    let plain = object(&json!({ "a!": string(), "b": string() }));
    let open = |extra: Value| {
        let mut schema = plain.clone();
        schema["additionalProperties"] = extra;
        schema
    };
    let choice = |key: &str, branches: Value| whole(json!({ key: branches }));
    let by_kind = |kinds: &[(&str, Value)]| {
        let branches = kinds
            .iter()
            .map(|(kind, value)| object(&json!({ "kind!": { "const": kind }, "value": value })));
        whole(json!({ "oneOf": branches.collect::<Vec<_>>() }))
    };
    let referring = |definition: Value| {
        let mut schema = whole(json!({ "$ref": "#/$defs/d" }));
        schema["$defs"] = json!({ "d": definition });
        schema
    };
    let number = |bounds: Value| {
        let mut schema = bounds;
        schema["type"] = "number".into();
        whole(schema)
    };
    let table = [
        (plain.clone(), object(&json!({ "a!": string(), "b": string(), "c": {} })), Widened),
        (plain.clone(), object(&json!({ "a": string(), "b": string() })), Widened),
        (plain.clone(), object(&json!({ "a!": string() })), Narrowed),
        (plain.clone(), object(&json!({ "a!": string(), "b!": string() })), Breaking),
        (plain.clone(), object(&json!({ "a!": string(), "b": string(), "c!": {} })), Breaking),
        (plain.clone(), object(&json!({ "b": string() })), Breaking),
        (plain.clone(), object(&json!({ "a!": string(), "renamed": string() })), Breaking),
        (plain.clone(), open(json!(false)), Narrowed),
        (open(json!(false)), plain.clone(), Widened),
        (open(json!(true)), open(json!({})), Cosmetic),
        (open(json!(true)), open(json!({ "type": "string" })), Narrowed),
        (plain.clone(), open(json!({ "type": "string" })), Breaking),
        (whole(string()), whole(json!({ "type": "integer" })), Breaking),
        (whole(string()), whole(json!({ "type": ["string", "null"] })), Widened),
        (whole(json!({ "type": "integer" })), whole(json!({ "type": "number" })), Widened),
        (whole(json!({ "enum": ["a"] })), whole(json!({ "enum": ["b", "a"] })), Widened),
        (whole(json!({ "enum": ["a", "b"] })), whole(json!({ "const": "a" })), Narrowed),
        (whole(json!({ "enum": ["a"] })), whole(json!({ "enum": ["b"] })), Breaking),
        (whole(json!({ "enum": ["a"] })), whole(string()), Widened),
        (number(json!({ "minimum": 1 })), number(json!({ "minimum": 1.0 })), Cosmetic),
        (number(json!({ "minimum": 1 })), number(json!({ "exclusiveMinimum": 1 })), Narrowed),
        (number(json!({ "maximum": 1 })), number(json!({ "maximum": 2.5 })), Widened),
        (number(json!({ "maximum": 1 })), number(json!({ "minimum": 0 })), Breaking),
        (number(json!({ "multipleOf": 2 })), number(json!({ "multipleOf": 4 })), Narrowed),
        (whole(string()), whole(json!({ "type": "string", "pattern": "^a" })), Narrowed),
        (whole(json!({ "pattern": "^a" })), whole(json!({ "pattern": "^a$" })), Breaking),
        (whole(string()), whole(json!({ "type": "string", "title": "T" })), Cosmetic),
        (whole(string()), whole(json!({ "type": "string", "default": "T" })), Breaking),
        (
            choice("anyOf", json!([string()])),
            choice("anyOf", json!([{ "type": "null" }, string()])),
            Widened,
        ),
        (
            choice("oneOf", json!([string(), {}])),
            choice("oneOf", json!([string(), {}, { "type": "null" }])),
            Breaking,
        ),
        (by_kind(&[("a", json!({}))]), by_kind(&[("a", json!({})), ("b", json!({}))]), Widened),
        (by_kind(&[("a", json!({})), ("b", json!({}))]), by_kind(&[("b", json!({}))]), Narrowed),
        (
            by_kind(&[("a", json!({})), ("b", json!({}))]),
            by_kind(&[("a", string()), ("b", json!({}))]),
            Narrowed,
        ),
        (
            choice("allOf", json!([string(), { "minLength": 1 }, { "maxLength": 9 }])),
            choice("allOf", json!([string(), { "maxLength": 9 }])),
            Widened,
        ),
        (referring(string()), whole(string()), Cosmetic),
        (referring(string()), referring(json!({ "type": ["string", "null"] })), Widened),
        (referring(string()), whole(json!({ "$ref": "#/nowhere" })), Breaking),
        (
            whole(json!({ "type": "array", "items": string() })),
            whole(json!({ "type": "array", "items": string(), "maxItems": 3 })),
            Narrowed,
        ),
        (json!({ "type": "object" }), json!("nonsense"), Breaking),
    ];
    for (before, after, expected) in table {
        let drift = input_drift(&before, &after);
        let kind = drift.as_ref().map(|drift| drift.kind);
        if before == after || (expected == Cosmetic && kind.is_none()) {
            // `1` and `1.0` have one fingerprint.
            continue;
        }
        assert_eq!(kind, Some(expected), "{before} -> {after}: {drift:?}");
    }
}

#[test]
fn the_place_of_a_change_is_told() {
    let inner = |limit: u64| {
        let items = object(&json!({ "zone": { "type": "string", "maxLength": limit } }));
        object(&json!({ "start!": { "type": "array", "items": items } }))
    };
    assert_eq!(
        input_drift(&inner(9), &inner(5)).unwrap().to_string(),
        "`tool` narrowed\n  narrowed: `input.start[].zone`: `maxLength` 9 -> 5"
    );
}

#[test]
fn a_tool_cannot_make_the_file_unreadable_or_the_comparison_endless() {
    let deep = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!({ "items": inner }));
    let (before, after) = (with_input(deep(120)), with_input(deep(121)));
    let lock = pinned(&before);
    assert_eq!(PinFile::parse(&lock.to_text()).unwrap(), lock);
    assert_eq!(lock.drift([&before]), []);
    assert_eq!(lock.drift([&after])[0].kind, DriftKind::Breaking);

    // Each definition holds the next one twice.
    let doubling = |end: &str| {
        let mut definitions = serde_json::Map::new();
        for place in 0..40 {
            let next = json!({ "$ref": format!("#/$defs/d{}", place + 1) });
            let both = json!({ "allOf": [next, { "not": {} }, next], "title": end });
            definitions.insert(format!("d{place}"), both);
        }
        definitions.insert("d40".into(), json!({ "type": end }));
        json!({ "$defs": definitions, "$ref": "#/$defs/d0" })
    };
    let drift = input_drift(&doubling("string"), &doubling("integer")).unwrap();
    assert_eq!(drift.kind, DriftKind::Breaking);

    let endless = |title: &str| json!({ "$ref": "#", "title": title, "oneOf": [{ "$ref": "#" }, { "$ref": "#" }] });
    assert!(input_drift(&endless("a"), &endless("b")).is_some());
    let wide = |limit: u64| {
        let properties: serde_json::Map<_, _> =
            (0..20_000).map(|place| (format!("p{place}"), json!({ "maximum": limit }))).collect();
        json!({ "type": "object", "properties": properties })
    };
    let drift = input_drift(&wide(1), &wide(2)).unwrap();
    assert_eq!((drift.kind, drift.details.len()), (DriftKind::Breaking, 101));
}

/// Changes every text of a schema, however deep.
fn reworded(schema: &mut Value) {
    if let Some(keywords) = schema.as_object_mut() {
        for (key, value) in keywords {
            if let (Value::String(text), "description" | "title") = (&mut *value, key.as_str()) {
                text.push('!');
            }
            reworded(value);
        }
    } else if let Some(items) = schema.as_array_mut() {
        items.iter_mut().for_each(reworded);
    }
}

#[test]
fn changes_of_real_tools_are_told_for_what_they_are() {
    let path =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../../../shared/data/mcp/real-server-tools.jsonl");
    let lines = std::fs::read_to_string(path).unwrap();
    let mut counts = std::collections::BTreeMap::new();
    for line in lines.lines() {
        let tool: Value = serde_json::from_str(line).unwrap();
        let before = with_input(tool["inputSchema"].clone());
        let lock = pinned(&before);
        assert_eq!(PinFile::parse(&lock.to_text()).unwrap(), lock);
        let mut told = |change: &'static str, edit: &dyn Fn(&mut Value)| {
            let mut after = before.clone();
            after.input.edit(|input| {
                edit(input);
                true
            });
            for drift in lock.drift([&after]) {
                *counts.entry((change, drift.kind.as_str())).or_insert(0) += 1;
            }
        };
        let optional =
            |input: &mut Value| input["properties"]["brand_new"] = json!({ "type": "string" });
        told("other words", &reworded);
        told("a new argument", &optional);
        told("a new argument that is required", &|input| {
            optional(input);
            match input["required"].as_array_mut() {
                Some(required) => required.push("brand_new".into()),
                None => input["required"] = json!(["brand_new"]),
            }
        });
    }
    // 39 of the 247 schemas hold no text at all.
    let expected = [
        (("a new argument", "widened"), 247),
        (("a new argument that is required", "breaking"), 247),
        (("other words", "cosmetic"), 208),
    ];
    assert_eq!(counts, expected.into());
}
