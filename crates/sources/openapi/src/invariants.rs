//! What must hold of every request, whatever its arguments are: for the property test and the
//! fuzzer.

use std::sync::Arc;

use http::Method;
use serde_json::{Map, Value};
use url::Url;

use crate::operation::xml::{XmlContent, XmlModel, XmlNode, XmlNodeType, is_name};
use crate::operation::{
    ApiOperation, BodyField, BodyShape, FieldEncoding, FixedPair, OperationBody,
    OperationParameter, ParameterLocation, ParameterStyle, PathPiece, PathSegment,
};
use crate::request::{RequestDraft, decoded, form_text, may_be_set};

const STYLES: [ParameterStyle; 9] = [
    ParameterStyle::Simple,
    ParameterStyle::Label,
    ParameterStyle::Matrix,
    ParameterStyle::Form,
    ParameterStyle::SpaceDelimited,
    ParameterStyle::PipeDelimited,
    ParameterStyle::TabDelimited,
    ParameterStyle::DeepObject,
    ParameterStyle::Cookie,
];
const PLACES: [ParameterLocation; 5] = [
    ParameterLocation::Path,
    ParameterLocation::Query,
    ParameterLocation::QueryString,
    ParameterLocation::Header,
    ParameterLocation::Cookie,
];
const BODIES: [&str; 7] = [
    "application/json",
    "application/xml",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "application/octet-stream",
    "text/plain",
    "image/*",
];
const SERVER: &str = "https://api.example:8443/base/v1";

/// Arguments as JSON after the first line, whose bytes choose the styles of the operation.
pub fn request(data: &[u8]) {
    let (choice, arguments) = match data.iter().position(|byte| *byte == b'\n') {
        Some(end) => data.split_at(end),
        None => (data, &b"{}"[..]),
    };
    let Ok(Value::Object(arguments)) = serde_json::from_slice(arguments) else { return };
    let _ = check(&operation(choice), &arguments);
}

/// `POST /fixed/{path0}/a b.{path1}` with two parameters in each place, of the chosen styles.
fn operation(choice: &[u8]) -> ApiOperation {
    let mut chosen = choice.iter().copied().cycle().chain(std::iter::repeat(0));
    let mut next = |count: usize| usize::from(chosen.next().unwrap_or_default()) % count.max(1);
    let mut parameters = Vec::new();
    for (place, number) in PLACES.iter().flat_map(|place| [(*place, 0), (*place, 1)]) {
        let name = format!("{place:?}{number}").to_lowercase();
        parameters.push(OperationParameter {
            argument: name.clone(),
            name,
            place,
            style: STYLES.get(next(STYLES.len())).copied().unwrap_or(ParameterStyle::Form),
            explode: next(2) == 1,
            allow_reserved: next(2) == 1,
            media: [None, None, Some("application/json"), Some("text/plain")]
                .get(next(4))
                .and_then(|media| media.map(str::to_owned)),
            required: false,
            given: None,
        });
    }
    for name in ["Host", "Authorization", "Content-Length", "Cookie", "Transfer-Encoding"] {
        let like =
            parameters.iter().rfind(|known| known.place == ParameterLocation::Header).cloned();
        let named =
            |it| OperationParameter { name: name.to_owned(), argument: name.to_owned(), ..it };
        parameters.extend(like.map(named));
    }
    let media = BODIES.get(next(BODIES.len())).copied().unwrap_or_default().to_owned();
    let field = |number: usize| BodyField {
        argument: format!("body{number}"),
        name: format!("body{number}"),
        encoding: FieldEncoding { style: STYLES.get(number).copied(), ..FieldEncoding::default() },
        bytes: number == 0,
    };
    let shape = match next(2) {
        0 => BodyShape::Fields(vec![field(0), field(1), field(7)]),
        _ => BodyShape::Whole { argument: "body".to_owned(), schema: Value::Null },
    };
    let xml = (media == "application/xml").then(|| Arc::new(elements()));
    let text = |text: &str| PathPiece::Text(text.to_owned());
    let filled = |name: &str| PathPiece::Parameter(name.to_owned());
    ApiOperation {
        key: "probe".to_owned(),
        method: Method::POST,
        effect: None,
        takes_key: false,
        path: vec![
            PathSegment(vec![text("fixed")]),
            PathSegment(vec![filled("path0")]),
            PathSegment(vec![text("a b."), filled("path1")]),
        ],
        query: vec![FixedPair { name: "fixed".to_owned(), value: Some("a=b c".to_owned()) }],
        parameters,
        body: Some(OperationBody { media, required: next(2) == 1, shape, xml }),
        server: None,
        security: Vec::new(),
        produces: Vec::new(),
    }
}

/// An element with an attribute, a list with and one without an element around it, and itself.
fn elements() -> XmlModel {
    let namespace = Some("urn:a\"<".to_owned());
    let wrapped = XmlNode { is_wrapped: true, holds: XmlContent::Items(0), ..XmlNode::default() };
    let listed =
        XmlNode { holds: XmlContent::Items(0), prefix: Some("p".to_owned()), ..XmlNode::default() };
    let attribute = XmlNode { written: XmlNodeType::Attribute, ..XmlNode::default() };
    let fields = ["body0", "body1", "body7"].map(str::to_owned).into_iter().zip([1, 2, 3]);
    let root =
        XmlNode { namespace, holds: XmlContent::Fields(fields.collect()), ..XmlNode::default() };
    XmlModel { nodes: vec![root, wrapped, listed, attribute], name: "root".to_owned() }
}

/// Panics if a text is no element with elements in it, and nothing else.
fn xml_holds(text: &str) {
    let (declaration, text) = text.split_once("?>").unwrap_or_default();
    assert_eq!(declaration, "<?xml version=\"1.0\" encoding=\"UTF-8\"");
    let mut open: Vec<&str> = Vec::new();
    let mut roots = 0;
    for piece in text.trim_start().split('<').skip(1) {
        let (tag, rest) = piece.split_once('>').unwrap_or((piece, "<"));
        assert!(!rest.contains(['<', '>']), "{text}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{text}");
        } else {
            let name = tag.split(' ').next().unwrap_or_default();
            assert!(name.split(':').all(is_name), "{text}");
            assert_eq!(tag.matches('"').count() % 2, 0, "{text}");
            roots += usize::from(open.is_empty());
            open.push(name);
        }
        assert!(!open.is_empty() || rest.is_empty(), "{text}");
        let mut entities = rest.split('&').skip(1);
        let known = ["amp;", "lt;", "gt;", "#13;"];
        assert!(entities.all(|it| known.iter().any(|known| it.starts_with(known))), "{text}");
    }
    assert!(open.is_empty() && roots == 1, "{text}");
}

/// Panics if the arguments change more than values in their own places; tells whether there was
/// a request at all.
pub(crate) fn check(operation: &ApiOperation, arguments: &Map<String, Value>) -> bool {
    let Ok(server) = Url::parse(SERVER) else { return false };
    let Ok(draft) = RequestDraft::new(operation, arguments) else { return false };
    let Ok(url) = draft.url(&server) else { return false };
    assert_eq!(draft.method, operation.method);
    assert_eq!(Url::parse(url.as_str()).as_ref(), Ok(&url), "it reads otherwise than it is");
    let origin =
        |url: &Url| (url.scheme().to_owned(), url.host_str().map(str::to_owned), url.port());
    assert_eq!(origin(&url), origin(&server));
    assert_eq!((url.username(), url.password(), url.fragment()), ("", None, None));
    path_holds(operation, &url, &server);
    query_holds(operation, arguments, url.query().unwrap_or_default());
    let declared =
        |place: ParameterLocation| operation.parameters.iter().filter(move |it| it.place == place);
    for (name, value) in &draft.headers {
        let is_declared = declared(ParameterLocation::Header)
            .any(|it| it.name.eq_ignore_ascii_case(name.as_str()));
        assert!(name == "accept" || is_declared && may_be_set(name), "`{name}` was set");
        assert!(!value.as_bytes().iter().any(|byte| b"\r\n\0".contains(byte)));
    }
    let cookies = form_text(&draft.cookies);
    assert!(!cookies.contains([';', '\r', '\n', '\0']), "a cookie holds another one");
    if let Some(payload) = &draft.body {
        assert!(!payload.media.as_bytes().iter().any(|byte| b"\r\n\0".contains(byte)));
        if operation.body.as_ref().is_some_and(|body| body.xml.is_some()) {
            xml_holds(&String::from_utf8_lossy(&payload.bytes));
        }
    }
    true
}

fn path_holds(operation: &ApiOperation, url: &Url, server: &Url) {
    let below = url.path().strip_prefix(server.path()).unwrap_or("outside of the server's path");
    let segments: Vec<&str> = below.split('/').skip(1).collect();
    assert_eq!(segments.len(), operation.path.len(), "{below}");
    for (sent, PathSegment(pieces)) in segments.iter().zip(&operation.path) {
        assert!(!sent.is_empty() && !matches!(&*decoded(sent), "." | ".."), "{below}");
        assert!(!sent.contains(['?', '#', '\\', ' ', '\r', '\n', '\0']), "{below}");
        let mut rest = decoded(sent).into_owned();
        for piece in pieces {
            if let PathPiece::Text(text) = piece {
                let at = rest.find(text.as_str());
                assert!(at.is_some(), "the fixed `{text}` is gone from {below}");
                rest = rest.split_off(at.unwrap_or_default() + text.len());
            }
        }
    }
}

/// Every key is declared, or a member of an object that is written with its own names.
fn query_holds(operation: &ApiOperation, arguments: &Map<String, Value>, query: &str) {
    let of_query = |it: &&OperationParameter| {
        matches!(it.place, ParameterLocation::Query | ParameterLocation::QueryString)
    };
    let declared: Vec<&OperationParameter> = operation.parameters.iter().filter(of_query).collect();
    let has_whole = declared.iter().any(|it| {
        it.place == ParameterLocation::QueryString
            && arguments.get(&it.argument).is_some_and(|it| !it.is_null())
    });
    let rest = query.strip_prefix("fixed=a=b%20c");
    assert!(rest.is_some(), "the fixed pair is gone from {query}");
    let rest = rest.unwrap_or_default();
    assert!(!rest.split('&').any(|pair| pair.split('=').next() == Some("fixed")), "{query}");
    for pair in rest.split('&').filter(|pair| !pair.is_empty() && !has_whole) {
        let key = decoded(pair.split('=').next().unwrap_or_default()).into_owned();
        let is_known = declared.iter().any(|it| {
            let spilled = || {
                let members = arguments.get(&it.argument).and_then(Value::as_object);
                it.explode && members.is_some_and(|members| members.contains_key(&key))
            };
            key == it.name || key.starts_with(&format!("{}[", it.name)) || spilled()
        });
        assert!(is_known, "nobody declared `{key}`");
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;
    use proptest::test_runner::TestRunner;
    use serde_json::json;

    use super::*;

    const HOSTILE: [&str; 21] = [
        "",
        ".",
        "..",
        "../x",
        "%2e%2e",
        "..%2f",
        "//evil",
        "\\\\evil",
        "https://evil/",
        "a?b=c",
        "a#f",
        "a;b",
        "a\r\nX: y",
        "\0",
        "a&query1=z",
        "fixed",
        "a=b",
        "@evil",
        ":80",
        "\u{202e}",
        "ü/%",
    ];

    fn text() -> impl Strategy<Value = String> {
        prop_oneof![
            prop::sample::select(HOSTILE.to_vec()).prop_map(str::to_owned),
            any::<String>(),
            "[a-z]{1,3}",
        ]
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            text().prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((text(), inner), 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    #[test]
    fn arguments_change_nothing_but_values() {
        let choices = prop::collection::vec(any::<u8>(), 0..60);
        let values = prop::collection::vec(prop::option::weighted(0.5, value()), 20);
        let config = ProptestConfig { cases: 1_000, ..ProptestConfig::default() };
        let sent = Cell::new(0);
        let all = TestRunner::new(config).run(&(choices, values), |(choice, values)| {
            let operation = operation(&choice);
            let names = operation.parameters.iter().map(|it| it.argument.as_str());
            let names = names.chain(["body", "body0", "body1", "body7", "undeclared"]);
            let given = names.zip(values).filter_map(|(name, it)| Some((name.to_owned(), it?)));
            let mut given: Map<String, Value> = given.collect();
            given.entry("path0").or_insert(json!("a"));
            given.entry("path1").or_insert(json!("b"));
            sent.set(sent.get() + usize::from(check(&operation, &given)));
            Ok(())
        });
        all.unwrap();
        // The others were refused.
        assert!(sent.get() > 200, "only {} requests were made", sent.get());
    }

    #[test]
    fn the_check_sees_sent_requests() {
        let arguments = json!({"path0": "a/..b", "path1": "b", "query0": {"k": 1}, "header0": "x"});
        let Value::Object(arguments) = arguments else { unreachable!() };
        let operation = operation(&[]);
        let url =
            RequestDraft::new(&operation, &arguments).unwrap().url(&Url::parse(SERVER).unwrap());
        let expected =
            "https://api.example:8443/base/v1/fixed/a%2F..b/a%20b.b?fixed=a=b%20c&query0=k,1";
        assert_eq!(url.unwrap().as_str(), expected);
        assert!(check(&operation, &arguments));
    }
}
