//! Texts, among them those that are empty, foreign or too long.

use serde_json::json;

use crate::{refused, table, told};

#[tokio::test]
async fn characters_words_lines_and_bytes_are_counted() {
    table(
        "text_count",
        [
            (json!({"text": ""}), json!({"characters": 0, "words": 0, "lines": 0, "bytes": 0})),
            (
                json!({"text": "Grüezi  mitenand\nund ade\n"}),
                json!({"characters": 25, "words": 4, "lines": 2, "bytes": 26}),
            ),
        ],
    )
    .await;
    refused("text_count", [json!({"text": "a".repeat(100_001)}), json!({"txt": ""})]).await;
}

#[tokio::test]
async fn a_text_is_written_in_each_case() {
    let text = "  parseHTTP2 response, für ÄRGER";
    let rows = [
        ("upper", "  PARSEHTTP2 RESPONSE, FÜR ÄRGER"),
        ("lower", "  parsehttp2 response, für ärger"),
        ("title", "  Parsehttp2 Response, Für Ärger"),
        ("camel", "parseHttp2ResponseFürÄrger"),
        ("kebab", "parse-http2-response-für-ärger"),
        ("snake", "parse_http2_response_für_ärger"),
    ];
    let rows = rows.map(|(case, out)| (json!({"text": text, "case": case}), json!({"text": out})));
    table("text_case", rows).await;
    table("text_case", [(json!({"text": " - ", "case": "snake"}), json!({"text": ""}))]).await;
    refused("text_case", [json!({"text": "a", "case": "wide"})]).await;
}

#[tokio::test]
async fn literal_texts_are_replaced_within_a_bound() {
    table(
        "text_replace",
        [
            (
                json!({"text": "a.b.c", "find": ".", "replacement": "->"}),
                json!({"text": "a->b->c", "replaced": 2}),
            ),
            (
                json!({"text": "aaa", "find": "aa", "replacement": ""}),
                json!({"text": "a", "replaced": 1}),
            ),
            (
                json!({"text": "abc", "find": "x", "replacement": "y"}),
                json!({"text": "abc", "replaced": 0}),
            ),
            (
                json!({"text": "a".repeat(1000), "find": "a", "replacement": "b".repeat(1001)}),
                told(
                    "the text would grow to 1001000 bytes, and 1000000 is the limit: replace in a \
                     part of it, or by something shorter",
                ),
            ),
        ],
    )
    .await;
    refused("text_replace", [json!({"text": "a", "find": "", "replacement": "b"})]).await;
}

#[tokio::test]
async fn a_range_of_lines_is_given() {
    let text = "one\r\ntwo\n\nfour\n";
    table(
        "text_lines",
        [
            (
                json!({"text": text, "first": 2, "last": 3}),
                json!({"text": "two\n", "first": 2, "last": 3, "total": 4}),
            ),
            (
                json!({"text": text, "first": 4, "last": 9}),
                json!({"text": "four", "first": 4, "last": 4, "total": 4}),
            ),
            (
                json!({"text": text}),
                json!({"text": "one\ntwo\n\nfour", "first": 1, "last": 4, "total": 4}),
            ),
            (
                json!({"text": text, "first": 5}),
                told("the text has 4 lines, so there is no line 5"),
            ),
            (json!({"text": ""}), told("the text has 0 lines, so there is no line 1")),
            (
                json!({"text": text, "first": 3, "last": 2}),
                told("`last` (2) must not come before `first` (3)"),
            ),
        ],
    )
    .await;
    refused("text_lines", [json!({"text": "a", "first": 0}), json!({"text": "a", "last": -1})])
        .await;
}
