//! A tool that makes any request of an API, behind the same guard as the others.

use http::{HeaderMap, HeaderName, Method};
use serde_json::{Map, Value, json};
use toolcrib_core::{Arguments, Effect, InvalidName, ToolError, ToolSpec};

use crate::operation::ApiOperation;
use crate::request::refusal::refused;
use crate::request::{
    ContentKind, Payload, RequestDraft, fixed, form_pairs, is_dot_segment, may_be_set, value_of,
};

const METHODS: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/// The spec of the tool for the API of this title. Nobody knows what a request will do, so it is
/// one that may destroy.
pub(crate) fn spec(title: &str) -> Result<ToolSpec, InvalidName> {
    let title: String = title.chars().filter(|letter| !letter.is_control()).take(80).collect();
    let description = format!(
        "Makes any request of the API `{title}`. Use it only where no other tool of this API does \
         what is needed."
    );
    let mut spec = ToolSpec::new("request", description, Effect::Destroy)?;
    spec.input = json!({
        "type": "object",
        "properties": {
            "method": { "type": "string", "enum": METHODS },
            "path": {
                "type": "string",
                "description": "Below the API's base, from its first slash on, without a query: \
                                `/pets/7`. A slash within a name is written `%2F`.",
            },
            "query": {
                "type": "object",
                "description": "Values by name; a list repeats its name.",
            },
            "headers": { "type": "object", "additionalProperties": { "type": "string" } },
            "body": { "description": "Sent as JSON; a string is sent as it is if `content_type` \
                                      is no JSON." },
            "content_type": { "type": "string", "description": "`application/json` if not given." },
        },
        "required": ["method", "path"],
        "additionalProperties": false,
    })
    .into();
    Ok(spec)
}

/// The operation that stands for all of them: any way in that has its credentials.
pub(crate) fn operation<'a>(schemes: impl Iterator<Item = &'a String>) -> ApiOperation {
    let mut security: Vec<Vec<String>> = schemes.map(|scheme| vec![scheme.clone()]).collect();
    if !security.is_empty() {
        security.push(Vec::new());
    }
    ApiOperation {
        key: "request".to_owned(),
        method: Method::POST,
        effect: None,
        takes_key: false,
        path: Vec::new(),
        query: Vec::new(),
        parameters: Vec::new(),
        body: None,
        server: None,
        security,
        produces: Vec::new(),
    }
}

/// The request that the arguments describe.
pub(crate) fn draft(arguments: &Arguments) -> Result<RequestDraft, ToolError> {
    let arguments = arguments.fields();
    let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    let named = |name: &str| match arguments.get(name) {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(fields)) => Ok(fields.clone()),
        Some(_) => Err(refused(name, "takes an object of values by name")),
    };
    let method = METHODS.iter().find(|known| **known == text("method"));
    let method = method.and_then(|method| method.parse().ok());
    let method = method
        .ok_or_else(|| refused("method", &format!("must be one of {}", METHODS.join(", "))))?;
    Ok(RequestDraft {
        method,
        path: path(text("path"))?,
        query: form_pairs(&named("query")?, &[]),
        headers: headers(&named("headers")?)?,
        cookies: Vec::new(),
        body: body(arguments.get("body"), text("content_type"))?,
    })
}

fn path(path: &str) -> Result<String, ToolError> {
    let wrong = |why: &str| Err(refused("path", why));
    let Some(below) = path.strip_prefix('/') else {
        return wrong("must begin with a slash and name no host: `/pets/7`");
    };
    if below.contains(['?', '#', '\\']) {
        return wrong("cannot hold `?`, `#` or `\\`: give the query in `query`");
    }
    let segments: Vec<&str> = below.split('/').collect();
    let inner = segments.split_last().map(|(_, inner)| inner).unwrap_or_default();
    // Two slashes in a row are a host to some readers.
    if inner.iter().any(|segment| segment.is_empty()) {
        return wrong("cannot have an empty segment");
    }
    if segments.iter().any(|segment| is_dot_segment(segment)) {
        return wrong("cannot have `.` or `..` between slashes, however they are encoded");
    }
    let segments: Vec<String> = segments.into_iter().map(fixed).collect();
    Ok(format!("/{}", segments.join("/")))
}

fn headers(given: &Map<String, Value>) -> Result<HeaderMap, ToolError> {
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let shown: String = name.chars().take(60).collect();
        let name = HeaderName::from_bytes(name.as_bytes()).ok();
        let is_accept = name.as_ref() == Some(&http::header::ACCEPT);
        let Some(name) = name.filter(|name| is_accept || may_be_set(name)) else {
            let why = format!("cannot set `{shown}`: leave it out");
            return Err(refused("headers", &why));
        };
        let Some(text) = value.as_str() else {
            return Err(refused("headers", &format!("takes texts, and `{shown}` is none")));
        };
        headers.insert(name, value_of("headers", text)?);
    }
    Ok(headers)
}

fn body(body: Option<&Value>, media: &str) -> Result<Option<Payload>, ToolError> {
    let media = if media.is_empty() { "application/json" } else { media };
    let Some(body) = body else { return Ok(None) };
    let text = match (ContentKind::of(media), body) {
        (ContentKind::Json, body) => body.to_string(),
        (_, Value::String(text)) => text.clone(),
        (ContentKind::Form, Value::Object(fields)) => {
            crate::request::form_text(&form_pairs(fields, &[]))
        }
        _ => {
            let why = format!("must be a string to be sent as `{media}`");
            return Err(refused("body", &why));
        }
    };
    Ok(Some(Payload { media: value_of("content_type", media)?, bytes: text.into() }))
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;

    fn sent(arguments: Value) -> Result<String, String> {
        let Value::Object(fields) = arguments else { panic!("an object") };
        let server = Url::parse("https://api.example/v1").unwrap();
        let draft = draft(&Arguments::new(fields)).map_err(|error| error.message)?;
        let url = draft.url(&server).map_err(|error| error.message)?;
        let headers = draft.headers.iter().map(|(name, value)| format!(" {name}: {value:?}"));
        let body = draft.body.map(|it| format!(" {:?} {:?}", it.media, it.bytes));
        Ok(format!(
            "{} {url}{}{}",
            draft.method,
            headers.collect::<String>(),
            body.unwrap_or_default()
        ))
    }

    #[test]
    fn any_request_below_the_base_can_be_made() {
        assert_eq!(
            sent(json!({"method": "GET", "path": "/pets/a%2Fb/", "query": {"tag": ["x", "y z"]},
                "headers": {"X-Trace": "1"}}))
            .unwrap(),
            "GET https://api.example/v1/pets/a%2Fb/?tag=x&tag=y+z x-trace: \"1\""
        );
        assert_eq!(
            sent(json!({"method": "POST", "path": "/", "body": {"a": 1}})).unwrap(),
            r#"POST https://api.example/v1/ "application/json" b"{\"a\":1}""#
        );
        assert_eq!(
            sent(
                json!({"method": "PUT", "path": "/x", "body": "<a/>", "content_type": "text/xml"})
            )
            .unwrap(),
            r#"PUT https://api.example/v1/x "text/xml" b"<a/>""#
        );
    }

    #[test]
    fn nothing_but_the_path_below_the_base_can_be_named() {
        for path in [
            "",
            "x",
            "//evil",
            "https://evil/",
            "/a/../b",
            "/%2e%2e/b",
            "/a?b=c",
            "/a#b",
            "/\\evil",
            "/a//b",
            "/..",
            "/%252e%252e/x",
            "/a%2f..%2f..%2fadmin",
            "/a%5c..%5cb",
            "/..;/x",
            "/.%00/..",
        ] {
            let refused = sent(json!({"method": "GET", "path": path})).unwrap_err();
            assert!(refused.starts_with("`path` "), "{path}: {refused}");
        }
        for name in [
            "Host",
            "authorization",
            "Cookie",
            "Content-Length",
            "Transfer-Encoding",
            "Proxy-Authorization",
            "X-HTTP-Method-Override",
            "a b",
            "X-Forwarded-For",
        ] {
            let arguments = json!({"method": "GET", "path": "/", "headers": {name: "x"}});
            assert!(sent(arguments).unwrap_err().contains("cannot set"), "{name}");
        }
        let broken = json!({"method": "GET", "path": "/", "headers": {"x": "a\nb"}});
        assert!(sent(broken).unwrap_err().contains("line breaks"));
        assert!(sent(json!({"method": "TRACE", "path": "/"})).unwrap_err().contains("one of GET"));
        let media =
            json!({"method": "PUT", "path": "/", "body": "", "content_type": "a/b\r\nX: y"});
        assert!(sent(media).is_err());
    }
}
