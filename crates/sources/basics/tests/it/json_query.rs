//! Paths through JSON: what they find, what is cut, and what is refused.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{outcome, refused, table, told};

fn shop() -> Value {
    json!({
        "items": [
            {"name": "vice", "price": 40, "tags": ["bench"]},
            {"name": "file", "price": 9},
            {"name": "saw", "price": 15, "maker": {"name": "Ott"}},
        ],
        "it's": {"a b": 1},
    })
}

#[tokio::test]
async fn a_path_finds_its_values_in_order() {
    let rows = [
        ("$.items[*].name", json!(["vice", "file", "saw"])),
        ("$.items[0]['name', \"price\"]", json!(["vice", 40])),
        ("$.items[-1].price", json!([15])),
        ("$.items[ 0 , 2 ].price", json!([40, 15])),
        ("$.items[1:].price", json!([9, 15])),
        ("$.items[:-2].price", json!([40])),
        ("$.items[-9:9].price", json!([40, 9, 15])),
        ("$.items[2:1]", json!([])),
        ("$.items[7]", json!([])),
        ("$.items[-4]", json!([])),
        ("$.items.name", json!([])),
        ("$..name", json!(["vice", "file", "saw", "Ott"])),
        ("$.items[0]..*", json!(["vice", 40, ["bench"], "bench"])),
        ("$.items..[0]", json!([shop()["items"][0], "bench"])),
        (r"$['it\'s'].*", json!([1])),
        ("$", json!([shop()])),
    ];
    for (path, values) in rows {
        let expected = json!({ "values": values, "found": values.as_array().unwrap().len() });
        for json in [shop(), json!(shop().to_string())] {
            table("json_query", [(json!({"json": json, "path": path}), expected.clone())]).await;
        }
    }
}

#[tokio::test]
async fn a_path_that_cannot_be_read_is_told_where() {
    let rows = [
        ("items", 1, "items", "a path starts with `$`"),
        ("$items", 2, "items", "expected `.`, `..` or `[`"),
        ("$.", 3, "", "expected a name or `*`"),
        ("$[", 3, "", "expected an index, a slice, a quoted name or `*`; filters are not read"),
        (
            "$.items[?@.price > 10]",
            9,
            "?@.price > 1",
            "expected an index, a slice, a quoted name or `*`; filters are not read",
        ),
        ("$[0", 4, "", "expected `,` or `]`"),
        ("$[0:2:1]", 6, ":1]", "expected `,` or `]`"),
        ("$[1-2]", 3, "1-2]", "this is no index"),
        ("$['a", 3, "'a", "this name is not closed"),
        (r"$['\n']", 3, r"'\n']", "only quotes and backslashes take a backslash"),
    ];
    let rows = rows.map(|(path, place, near, what)| {
        let message = format!("cannot read the path at character {place} (`{near}`): {what}");
        (json!({"json": {}, "path": path}), told(&message))
    });
    table("json_query", rows).await;
    refused("json_query", [json!({"json": {}, "path": ""}), json!({"path": "$"})]).await;
}

#[tokio::test]
async fn documents_that_are_none_or_too_large_are_told() {
    table(
        "json_query",
        [
            (
                json!({"json": "{oops}", "path": "$"}),
                told(
                    "`json` is a text that is no JSON: key must be a string at line 1 column 2. \
                     Correct it and call again",
                ),
            ),
            (
                json!({"json": " ".repeat(1_000_001), "path": "$"}),
                told("`json` has 1000001 bytes, and 1000000 is the limit: give a part of it"),
            ),
            (
                json!({"json": "[".repeat(100_000), "path": "$"}),
                told(
                    "`json` is a text that is no JSON: recursion limit exceeded at line 1 column \
                     128. Correct it and call again",
                ),
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn large_results_are_cut_and_multiplying_paths_are_stopped() {
    let numbers: Vec<usize> = (0..1500).collect();
    let expected = json!({ "values": &numbers[..1000], "found": 1500, "cut": true });
    table("json_query", [(json!({"json": &numbers, "path": "$[*]"}), expected)]).await;

    let long = vec!["x".repeat(60_000); 4];
    let expected = json!({ "values": &long[..3], "found": 4, "cut": true });
    table("json_query", [(json!({"json": &long, "path": "$[*]"}), expected)]).await;

    let message = "the path leads to more than 200000 values: use a narrower one";
    let nested = (0..50).fold(json!(1), |inner, _| json!([inner, 1]));
    let rows = [
        json!({"json": [[[[[[0]]]]]], "path": format!("${}", "[*,*,*,*,*,*,*,*]".repeat(6))}),
        json!({"json": nested, "path": "$..*..*..*..*..*..*"}),
    ];
    table("json_query", rows.map(|arguments| (arguments, told(message)))).await;
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_path_makes_the_query_panic(
        path in prop_oneof!["\\$\\PC{0,40}", "\\$([.\\[\\]*,:'\"\\\\]|-?[0-9]{1,20}|items|name){0,30}"],
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let arguments = json!({"json": shop(), "path": path});
        let outcome = runtime.block_on(outcome("json_query", arguments));
        prop_assert!(outcome["found"].is_u64() || outcome["tool"].is_string(), "{}", outcome);
    }
}
