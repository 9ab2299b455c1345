//! Broken JSON and what was meant, from the public tests of `json_repair` (MIT).

use serde_json::Value;
use toolcrib_json::repair::read;

use super::told;

const EMPTY: &str = "nothing to read: they return an empty string, we refuse";
const LITERAL: &str = "a literal standing alone is read, they return an empty string";
const LINE_BREAK: &str = "a raw line break before the closing quote is content, they remove it";

/// The pairs that come out otherwise than the corpus expects, and why.
const DIFFERENT: &[(&str, &str)] = &[
    ("jr19", "several documents: they take the last, we keep both"),
    ("jr33", "they drop an escaped line break at the end of a cut string, it is content"),
    ("jr34", "a cut string: they split it at a comma that a word and a colon follow"),
    ("jr37", "they drop the empty object, it was written"),
    ("jr39", EMPTY),
    ("jr52", "they guess the rows of a table from their width, we refuse"),
    ("jr59", "they make an array of a cut key, we drop it"),
    ("jr72", EMPTY),
    ("jr76", "they end a `#` comment at a bracket, it ends with its line (as for `//` in jr74)"),
    ("jr91", "they join the rest of what looks like a set into one text"),
    ("jr106", EMPTY),
    ("jr110", "they keep the closing quote as content"),
    ("jr117", "they drop the rest of the text, we refuse"),
    ("jr121", "they drop words of an unquoted text"),
    ("jr133", "they open a second object at a repeated key; it has the same value"),
    ("jr136", "they make a key of an array's item, we refuse"),
    ("jr137", "they unescape the string once more, we keep its backslashes"),
    ("jr145", "they drop a word behind an item"),
    ("jr155", EMPTY),
    ("jr156", EMPTY),
    ("jr157", EMPTY),
    ("jr187", LITERAL),
    ("jr210", "they read the JSON inside a string, we keep the string"),
    ("jr212", LINE_BREAK),
    ("jr213", LINE_BREAK),
    ("jr214", LINE_BREAK),
    ("jr215", LINE_BREAK),
    ("jr216", LINE_BREAK),
    ("jr218", LINE_BREAK),
    ("jr219", LINE_BREAK),
    ("jr220", LINE_BREAK),
    ("jr221", LINE_BREAK),
    ("jr222", LINE_BREAK),
    ("jr223", LINE_BREAK),
    ("jr224", LINE_BREAK),
    ("jr225", LINE_BREAK),
    ("jr226", LINE_BREAK),
    ("jr227", LINE_BREAK),
    ("jr228", LINE_BREAK),
    ("jr229", LINE_BREAK),
    ("jr230", LINE_BREAK),
    ("jr231", "they drop a quote and a line break that stand in the string"),
    ("jr232", "they drop a quote and a line break that stand in the string"),
    ("jr238", LITERAL),
    ("jr239", LITERAL),
    ("jr240", LITERAL),
    ("jr249", "valid JSON, read as it says; they unescape it once more"),
    ("jr250", "they drop the rest of the text"),
    ("jr252", "they drop the rest of the text"),
    ("jr260", "they drop the rest of the value"),
];

/// Equal as the corpus compares: numbers by value, everything else strictly.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || left.as_f64() == right.as_f64()
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(key, left)| right.get(key).is_some_and(|right| same(left, right)))
        }
        _ => left == right,
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "the differences are read by people")]
fn the_corpus_is_read_as_expected_but_for_the_listed_pairs() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../../shared/data");
    let pairs = std::fs::read_to_string(format!("{data}/formats/json_repair_pairs.jsonl")).unwrap();
    let mut matched = 0;
    let mut different = Vec::new();
    for pair in pairs.lines() {
        let pair: Value = serde_json::from_str(pair).unwrap();
        let input = pair["input"].as_str().unwrap();
        match read(input) {
            Ok(read) if same(&read.value, &pair["expected"]) => matched += 1,
            outcome => {
                println!(
                    "{} {input:.200}\n  {:.200}\n  {}",
                    pair["id"],
                    pair["expected"],
                    told(outcome)
                );
                different.push(pair["id"].as_str().unwrap().to_owned());
            }
        }
    }
    println!("{matched} of {} match", matched + different.len());
    let listed: Vec<_> = DIFFERENT.iter().map(|(id, _)| *id).collect();
    assert_eq!(
        (matched, different),
        (262 - listed.len(), listed.iter().map(ToString::to_string).collect())
    );
}
