//! `GET /v1/record/export`: the record as a file, for other programs.

use http::{HeaderName, HeaderValue, header};
use serde_json::{Value, json};
use toolcrib_store::CallRecord;

use super::listing::{RecordQuery, record, shown_whole, silent};
use crate::http::routes::reply::text;
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

/// Rows of one file, and of one look at the record.
const MOST: usize = 10_000;
const AT_ONCE: usize = 500;
/// Looks without a row, one after the other, before the rest is left to the next file.
const MOST_EMPTY: usize = 20;
/// Where the next file goes on.
const CURSOR: HeaderName = HeaderName::from_static("toolcrib-cursor");

pub(crate) const FORMS: &[&str] = &["jsonl", "csv"];
const COLUMNS: [&str; 15] = [
    "key",
    "planned",
    "ended",
    "state",
    "kind",
    "tool",
    "source",
    "effect",
    "tenant",
    "caller",
    "id",
    "attempts",
    "decided_by",
    "resolved",
    "resolved_by",
];

pub(crate) fn export(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let is_csv = asked.query.get("form") == Some("csv");
        let RecordQuery { filter, mut after, .. } = RecordQuery::of(&asked.query)?;
        let (mut file, mut rows, mut empty) = (String::new(), 0, 0);
        if is_csv {
            file += &line(COLUMNS.iter().map(|name| (*name).to_owned()));
        }
        loop {
            let page = record(&asked)?.calls_of_all(filter.clone(), after, AT_ONCE).await;
            let page = page.map_err(|error| silent(&asked, error))?;
            for call in &page.calls {
                file += &if is_csv { cells(call) } else { shown_whole(call).to_string() + "\n" };
            }
            rows += page.calls.len();
            empty = if page.calls.is_empty() { empty + 1 } else { 0 };
            after = page.next;
            if after.is_none() || rows + AT_ONCE > MOST || empty == MOST_EMPTY {
                break;
            }
        }
        // Of an answer without a byte it would not be told to `HEAD`.
        let length = HeaderValue::from(file.len());
        let mut reply = text(file);
        let (kind, name) = if is_csv {
            ("text/csv; charset=utf-8", "attachment; filename=\"calls.csv\"")
        } else {
            ("application/x-ndjson", "attachment; filename=\"calls.jsonl\"")
        };
        let headers = reply.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        headers.insert(header::CONTENT_LENGTH, length);
        headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static(name));
        if let Some(next) = after.and_then(|next| json!(next).to_string().parse().ok()) {
            headers.insert(CURSOR, next);
        }
        Ok(reply)
    })
}

fn cells(call: &CallRecord) -> String {
    let row = shown_whole(call);
    line(COLUMNS.iter().map(|name| match (*name, row.get(*name)) {
        ("kind", _) => row.pointer("/ending/kind").map(word).unwrap_or_default(),
        ("attempts", Some(Value::Array(tries))) => tries.len().to_string(),
        (_, Some(Value::Object(person))) => {
            let part = |name: &str| person.get(name).map(word).unwrap_or_default();
            format!("{}/{}", part("tenant"), part("subject"))
        }
        (_, value) => value.map(word).unwrap_or_default(),
    }))
}

fn word(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// A line of RFC 4180. A program for tables takes a cell that begins like one of these for something
/// to work out, and whoever named a tool may have meant that.
fn line(cells: impl Iterator<Item = String>) -> String {
    let cells: Vec<_> = cells
        .map(|cell| {
            let is_meant = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
            let cell = if is_meant { format!("'{cell}") } else { cell };
            if cell.contains([',', '"', '\n', '\r']) {
                return format!("\"{}\"", cell.replace('"', "\"\""));
            }
            cell
        })
        .collect();
    cells.join(",") + "\r\n"
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn no_cell_is_worked_out_and_none_becomes_two() {
        let written = |cells: &[&str]| line(cells.iter().map(|cell| (*cell).to_owned()));
        let meant = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx"];
        assert_eq!(written(&meant), "'=1+1,'+1,'-1,'@SUM(A1),'\tx,\"'\rx\"\r\n");
        assert_eq!(
            written(&["a,b", "say \"x\"", "a\nb", "", "a=b"]),
            "\"a,b\",\"say \"\"x\"\"\",\"a\nb\",,a=b\r\n"
        );
    }
}
