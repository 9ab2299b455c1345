//! The sources that a server names for what its result says.

use serde::Deserialize;
use serde_json::{Map, Value};
use toolcrib_core::Reference;
use url::Url;

/// Where in `_meta` they stand: a list of objects with `id`, `title`, `url` and `text`, of which one
/// of the first three is enough.
pub(crate) const KEY: &str = "toolcrib/references";

/// Sources of one result.
const MOST: usize = 200;
/// Bytes of an id, a title or an address.
const LONGEST: usize = 2_000;

#[derive(Deserialize)]
struct NamedSource {
    id: Option<String>,
    title: Option<String>,
    url: Option<String>,
    text: Option<String>,
}

/// The sources in the fields of a result; what is none is left out.
pub(super) fn references(extra: &Map<String, Value>) -> Vec<Reference> {
    let named = extra.get("_meta").and_then(|meta| meta.get(KEY)).and_then(Value::as_array);
    let named = named.into_iter().flatten().take(MOST);
    named.filter_map(reference).collect()
}

fn reference(value: &Value) -> Option<Reference> {
    let source = NamedSource::deserialize(value).ok()?;
    let short =
        |text: Option<String>| text.filter(|text| !text.is_empty() && text.len() <= LONGEST);
    let url = short(source.url).and_then(|url| Url::parse(&url).ok());
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https")).map(String::from);
    let title = short(source.title);
    let id = short(source.id).or_else(|| url.clone()).or_else(|| title.clone())?;
    let text = source.text.unwrap_or_default();
    Some(Reference { id, title: title.unwrap_or_default(), url, text })
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};
    use toolcrib_core::Reference;

    use super::references;

    fn of(named: &Value) -> Vec<Reference> {
        let meta = json!({ "toolcrib/references": named });
        references(&Map::from_iter([("_meta".to_owned(), meta)]))
    }

    #[test]
    fn what_a_server_names_is_a_source_and_what_is_none_is_left_out() {
        let named = json!([
            { "url": "https://example.com/a", "title": "A", "text": "words" },
            { "id": "doc-7" },
            { "url": "javascript:alert(1)", "title": "B" },
            { "text": "nobody knows whose" },
            { "id": 7 },
            "https://example.com",
        ]);
        let source = |id: &str, title: &str, url: Option<&str>, text: &str| Reference {
            id: id.to_owned(),
            title: title.to_owned(),
            url: url.map(str::to_owned),
            text: text.to_owned(),
        };
        let wanted = [
            source("https://example.com/a", "A", Some("https://example.com/a"), "words"),
            source("doc-7", "", None, ""),
            source("B", "B", None, ""),
        ];
        assert_eq!(of(&named), wanted);
        for none in [json!(null), json!("x"), json!({})] {
            assert_eq!(of(&none), []);
        }
    }
}
