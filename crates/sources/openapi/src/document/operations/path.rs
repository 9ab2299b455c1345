//! Path templates.

use crate::operation::{FixedPair, PathPiece, PathSegment};

/// Longest template, in bytes.
pub(crate) const LONGEST: usize = 2_000;

/// A template as its segments and its fixed query. Every `{name}` of a segment is a parameter of
/// its wire name.
///
/// A fragment is cut off: it is no part of a request (RFC 3986, section 3.5), and documents have it
/// where it tells operations of one path apart. What could change the path of a request beyond its
/// parameters is refused.
pub(crate) fn template(template: &str) -> Result<(Vec<PathSegment>, Vec<FixedPair>), String> {
    if template.chars().any(|c| c.is_control() || c == '\\') {
        return Err("its path has characters that no path can have".to_owned());
    }
    let template = without_fragment(template);
    let (path, query) = template.split_once('?').unwrap_or((template, ""));
    Ok((segments(path)?, fixed_query(query)?))
}

/// The names in the fragment of a template: `#Action=Put&now` has `Action` and `now`.
pub(crate) fn fragment(template: &str) -> impl Iterator<Item = &str> {
    let fragment = template.strip_prefix(without_fragment(template)).unwrap_or_default();
    let pairs = fragment.strip_prefix('#').unwrap_or_default().split('&');
    pairs.filter_map(|pair| pair.split('=').next()).filter(|name| !name.is_empty())
}

fn without_fragment(template: &str) -> &str {
    let mut is_name = false;
    let start = template.char_indices().find(|(_, c)| {
        is_name = *c == '{' || is_name && *c != '}';
        *c == '#' && !is_name
    });
    start.and_then(|(start, _)| template.get(..start)).unwrap_or(template)
}

fn fixed_query(query: &str) -> Result<Vec<FixedPair>, String> {
    if query.contains(['{', '}', '#']) {
        return Err(
            "its path has a query with a parameter in it: declare the parameter instead".to_owned()
        );
    }
    let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = match pair.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (pair, None),
        };
        FixedPair { name: name.to_owned(), value }
    });
    Ok(pairs.collect())
}

fn segments(path: &str) -> Result<Vec<PathSegment>, String> {
    let Some(path) = path.strip_prefix('/') else {
        return Err("its path does not begin with `/`".to_owned());
    };
    let mut segments = Vec::new();
    let mut pieces = Vec::new();
    let mut rest = path;
    while let Some(place) = rest.find(['/', '{', '}']) {
        let (text, found) = rest.split_at(place);
        push_text(&mut pieces, text);
        match found.split_at(1) {
            ("/", after) => {
                segments.push(PathSegment(std::mem::take(&mut pieces)));
                rest = after;
            }
            ("{", after) => {
                let Some((name, after)) = after.split_once('}') else {
                    return Err("its path has a `{` without a `}`".to_owned());
                };
                pieces.push(PathPiece::Parameter(name.to_owned()));
                rest = after;
            }
            _ => return Err("its path has a `}` without a `{`".to_owned()),
        }
    }
    push_text(&mut pieces, rest);
    segments.push(PathSegment(pieces));
    if segments.iter().any(is_dots) {
        return Err("its path leads upwards".to_owned());
    }
    Ok(segments)
}

fn push_text(pieces: &mut Vec<PathPiece>, text: &str) {
    if !text.is_empty() {
        pieces.push(PathPiece::Text(text.to_owned()));
    }
}

/// `.` and `..`, also percent-encoded.
fn is_dots(segment: &PathSegment) -> bool {
    match segment.0.as_slice() {
        [PathPiece::Text(text)] => {
            let plain = text.to_ascii_lowercase().replace("%2e", ".");
            plain == "." || plain == ".."
        }
        _ => false,
    }
}

/// The wire names of the parameters, in order.
pub(crate) fn placeholders(segments: &[PathSegment]) -> impl Iterator<Item = &str> {
    segments.iter().flat_map(|segment| &segment.0).filter_map(|piece| match piece {
        PathPiece::Parameter(name) => Some(name.as_str()),
        PathPiece::Text(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> PathPiece {
        PathPiece::Text(text.to_owned())
    }

    fn parameter(name: &str) -> PathPiece {
        PathPiece::Parameter(name.to_owned())
    }

    #[test]
    fn a_template_becomes_segments_of_texts_and_parameters() {
        assert_eq!(
            segments("/files/{name}.{format}/raw"),
            Ok(vec![
                PathSegment(vec![text("files")]),
                PathSegment(vec![parameter("name"), text("."), parameter("format")]),
                PathSegment(vec![text("raw")]),
            ])
        );
        assert_eq!(segments("/"), Ok(vec![PathSegment(vec![])]));
        let with_slash = vec![PathSegment(vec![text("a")]), PathSegment(vec![])];
        assert_eq!(segments("/a/"), Ok(with_slash));
        assert_eq!(segments("/a:go"), Ok(vec![PathSegment(vec![text("a:go")])]));
    }

    #[test]
    fn a_query_in_a_template_is_fixed() {
        let fixed = |name: &str, value: Option<&str>| FixedPair {
            name: name.to_owned(),
            value: value.map(str::to_owned),
        };
        let (path, query) = template("/a?beta=true&&x=%20=?/&alone&empty=").unwrap();
        assert_eq!(path, [PathSegment(vec![text("a")])]);
        let expected = [("beta", Some("true")), ("x", Some("%20=?/")), ("alone", None)];
        let mut expected: Vec<FixedPair> = expected.map(|(name, value)| fixed(name, value)).into();
        expected.push(fixed("empty", Some("")));
        assert_eq!(query, expected);
        assert_eq!(template("/a?"), Ok((path, vec![])));
        for wrong in ["/a?b={c}", "/a?b={c#d}", "/a?b=\r\nX", "?a=b"] {
            assert!(template(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_fragment_is_cut_off() {
        for (written, sent) in [
            ("/#X-Target=Store.Put", "/"),
            ("/a/{b}#c", "/a/{b}"),
            ("/a?b=c#d?e", "/a?b=c"),
            ("/a#b?c=d", "/a"),
            ("/a#{b", "/a"),
            ("/a#", "/a"),
        ] {
            assert_eq!(template(written), template(sent), "{written}");
            assert!(template(written).is_ok(), "{written}");
        }
        let named = vec![PathSegment(vec![parameter("a#b")])];
        assert_eq!(template("/{a#b}#c"), Ok((named, vec![])));
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for template in
            ["", "a", "#/a", "/{a", "/{a#b", "/a}", "/../a", "/a/%2E%2e", "/.", "/a\r\nb", "/a\\b"]
        {
            assert!(super::template(template).is_err(), "{template:?}");
        }
    }
}
