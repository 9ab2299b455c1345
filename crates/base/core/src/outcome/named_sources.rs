//! The sources that somebody else names for what a result says.

use serde::Deserialize;
use serde_json::Value;

use super::content::Reference;

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

impl Reference {
    /// Reads a list of objects with `id`, `title`, `url` and `text`, of which one of the first three
    /// is enough: 200 at the most. What is none is left out, and so is an address that is none of
    /// `http` or `https`.
    pub fn named(list: &Value) -> Vec<Self> {
        let list = list.as_array().into_iter().flatten().take(MOST);
        list.filter_map(Self::read).collect()
    }

    fn read(value: &Value) -> Option<Self> {
        let source = NamedSource::deserialize(value).ok()?;
        let short =
            |text: Option<String>| text.filter(|text| !text.is_empty() && text.len() <= LONGEST);
        let url = short(source.url).filter(|url| is_of_the_web(url));
        let title = short(source.title);
        let id = short(source.id).or_else(|| url.clone()).or_else(|| title.clone())?;
        let text = source.text.unwrap_or_default();
        Some(Self { id, title: title.unwrap_or_default(), url, text })
    }
}

fn is_of_the_web(url: &str) -> bool {
    let rest = url.split_once("://").filter(|(scheme, _)| {
        scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
    });
    let is_odd = |letter: char| letter.is_whitespace() || letter.is_control();
    rest.is_some_and(|(_, rest)| !rest.is_empty()) && !url.contains(is_odd)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_somebody_names_is_a_source_and_what_is_none_is_left_out() {
        let named = json!([
            { "url": "https://example.com/a", "title": "A", "text": "words" },
            { "id": "doc-7", "url": "https://" },
            { "url": "javascript:alert(1)", "title": "B" },
            { "id": "c", "url": "https://example.com/a b" },
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
            source("c", "", None, ""),
        ];
        assert_eq!(Reference::named(&named), wanted);
        for none in [json!(null), json!("x"), json!({})] {
            assert_eq!(Reference::named(&none), []);
        }
        let many: Vec<_> = (0..300).map(|number| json!({ "id": number.to_string() })).collect();
        assert_eq!(Reference::named(&many.into()).len(), MOST);
    }
}
