//! The parameters of an operation: those of its path and its own, merged.

use http::HeaderName;
use indexmap::IndexMap;
use indexmap::map::Entry;
use serde_json::Value;

use super::DeclaredOperation;
use super::conversion_state::ConversionState;
use super::path;
use crate::document::document_set::DocumentSite;
use crate::document::schema::SchemaPart;
use crate::document::security::{KeyPlace, SecurityScheme};
use crate::document::text::{flag, line, member};
use crate::operation::{OperationParameter, ParameterLocation, ParameterStyle};
use crate::request::may_be_set;

/// Where a parameter is declared to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum DeclaredLocation {
    Place(ParameterLocation),
    /// Swagger 2: the whole body.
    Body,
    /// Swagger 2: a field of a form.
    Form,
}

/// A parameter as it stands in a document.
#[derive(Clone, Copy)]
pub(crate) struct DeclaredParameter<'l> {
    pub(crate) name: &'l str,
    pub(crate) into: DeclaredLocation,
    pub(crate) site: DocumentSite<'l>,
}

/// Headers that are not parameters, whatever a document says.
const IGNORED: [&str; 3] = ["accept", "content-type", "authorization"];

/// Headers that belong to the connection, or to whoever sends the request.
const FORBIDDEN: [&str; 14] = [
    "connection",
    "content-encoding",
    "content-length",
    "cookie",
    "cookie2",
    "expect",
    "host",
    "keep-alive",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
];

/// The parameters of an operation; its own take the place of those of its path.
pub(crate) fn declared<'l>(
    context: &mut ConversionState<'l>,
    found: &DeclaredOperation<'l>,
    about: &str,
) -> Result<Vec<DeclaredParameter<'l>>, String> {
    let mut merged: IndexMap<(DeclaredLocation, String), DeclaredParameter<'l>> = IndexMap::new();
    let lists = [found.item, found.operation].map(|site| site.get("parameters"));
    for site in lists.into_iter().flatten().flat_map(DocumentSite::items) {
        context.library.step(1);
        if merged.len() > MOST {
            return Err(format!("it has more than {MOST} parameters"));
        }
        let site = context.library.follow(site).map_err(|why| format!("of a parameter {why}"))?;
        let Some(declared) = declaration(site) else {
            if flag(site.value, "required") {
                return Err("a required parameter has no name, or an unknown place".to_owned());
            }
            context.notes.add(about, "left out: a parameter without a name or a known place");
            continue;
        };
        let is_header = declared.into == DeclaredLocation::Place(ParameterLocation::Header);
        let name = declared.name;
        let name = if is_header { name.to_ascii_lowercase() } else { name.to_owned() };
        match merged.entry((declared.into, name)) {
            Entry::Occupied(mut known) => {
                known.insert(declared);
            }
            Entry::Vacant(free) => {
                free.insert(declared);
            }
        }
    }
    let mut kept = Vec::new();
    for ((into, name), declared) in merged {
        if into == DeclaredLocation::Place(ParameterLocation::Header)
            && IGNORED.contains(&name.as_str())
        {
            continue;
        }
        let Some(why) = refusal(context, into, &name) else {
            kept.push(declared);
            continue;
        };
        let shown = line(&name, 60);
        let is_given = [CREDENTIAL, ELSEWHERE].contains(&why);
        if flag(declared.site.value, "required") && !is_given {
            return Err(format!("its required parameter `{shown}` {why}"));
        }
        context.notes.add(about, format!("left out: `{shown}` {why}"));
    }
    Ok(kept)
}

/// Parameters of one operation.
const MOST: usize = 500;

const CREDENTIAL: &str = "is a credential, which the settings give";
const ELSEWHERE: &str = "is a header that no argument may set, and the settings may";

/// Why a parameter cannot be an argument.
fn refusal(
    context: &ConversionState<'_>,
    into: DeclaredLocation,
    name: &str,
) -> Option<&'static str> {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    let is_key = |scheme: &SecurityScheme| match (scheme, into) {
        (SecurityScheme::Key { place, name: key }, DeclaredLocation::Place(into)) => {
            match (place, into) {
                (KeyPlace::Header, ParameterLocation::Header) => key.eq_ignore_ascii_case(name),
                (KeyPlace::Query, ParameterLocation::Query)
                | (KeyPlace::Cookie, ParameterLocation::Cookie) => key == name,
                _ => false,
            }
        }
        _ => false,
    };
    if context.schemes.values().any(is_key) {
        return Some(CREDENTIAL);
    }
    match into {
        DeclaredLocation::Place(ParameterLocation::Header)
            if FORBIDDEN.contains(&name)
                || name.starts_with("proxy-")
                || name.starts_with("sec-") =>
        {
            Some("is a header that no argument may set")
        }
        DeclaredLocation::Place(ParameterLocation::Header | ParameterLocation::Cookie)
            if name.is_empty() || !name.chars().all(is_token) =>
        {
            Some("has characters that its place cannot hold")
        }
        DeclaredLocation::Place(ParameterLocation::Header)
            if HeaderName::from_bytes(name.as_bytes()).is_ok_and(|name| !may_be_set(&name)) =>
        {
            Some(ELSEWHERE)
        }
        DeclaredLocation::Place(_) | DeclaredLocation::Body | DeclaredLocation::Form => None,
    }
}

fn declaration(site: DocumentSite<'_>) -> Option<DeclaredParameter<'_>> {
    let into = match member(site.value, "in")? {
        "path" => DeclaredLocation::Place(ParameterLocation::Path),
        "query" => DeclaredLocation::Place(ParameterLocation::Query),
        "querystring" => DeclaredLocation::Place(ParameterLocation::QueryString),
        "header" => DeclaredLocation::Place(ParameterLocation::Header),
        "cookie" => DeclaredLocation::Place(ParameterLocation::Cookie),
        "body" => DeclaredLocation::Body,
        "formData" => DeclaredLocation::Form,
        _ => return None,
    };
    let name = member(site.value, "name").filter(|name| !name.is_empty() && name.len() <= 200)?;
    Some(DeclaredParameter { name, into, site })
}

/// A parameter under the name of its argument, and the schema of that.
pub(crate) fn convert<'l>(
    context: &mut ConversionState<'l>,
    declared: DeclaredParameter<'l>,
    place: ParameterLocation,
    (path, about): (&str, &str),
) -> (OperationParameter, SchemaPart) {
    let site = declared.site;
    let written = site.get("content").and_then(|all| all.members().next());
    let media = written.map(|(media, _)| media.clone());
    let schema = match written {
        Some((_, written)) => written.get("schema"),
        None if context.is_swagger => Some(site),
        None => site.get("schema"),
    };
    let mut part = match schema {
        Some(schema) => context.sent.part(schema, about),
        None => SchemaPart::of(Value::Object(serde_json::Map::new())),
    };
    part.describe(member(site.value, "description"));
    if flag(site.value, "deprecated") {
        part.set("deprecated", Value::Bool(true));
    }
    let required = place == ParameterLocation::Path || flag(site.value, "required");
    let is_named = required && path::fragment(path).any(|name| name == declared.name);
    let given = schema.filter(|_| is_named).and_then(|schema| only_value(context, schema));
    if let Some(given) = &given {
        part.set("default", given.clone());
    }
    let (style, explode) = style(site, place, context.is_swagger);
    let parameter = OperationParameter {
        argument: String::new(),
        name: declared.name.to_owned(),
        place,
        style,
        explode,
        allow_reserved: flag(site.value, "allowReserved"),
        media,
        required: required && given.is_none(),
        given,
    };
    (parameter, part)
}

/// The value that a schema leaves no choice about.
fn only_value(context: &ConversionState<'_>, schema: DocumentSite<'_>) -> Option<Value> {
    let schema = context.library.follow(schema).ok()?;
    let listed = schema.value.get("enum").and_then(Value::as_array);
    let only =
        listed.and_then(|listed| if let [only] = listed.as_slice() { Some(only) } else { None });
    only.or_else(|| schema.value.get("const")).filter(|only| !only.is_null()).cloned()
}

/// How a value is written, as the document says or the place has it by default.
fn style(
    site: DocumentSite<'_>,
    place: ParameterLocation,
    is_swagger: bool,
) -> (ParameterStyle, bool) {
    let default = match place {
        ParameterLocation::Path | ParameterLocation::Header => ParameterStyle::Simple,
        ParameterLocation::Query | ParameterLocation::QueryString | ParameterLocation::Cookie => {
            ParameterStyle::Form
        }
    };
    if is_swagger {
        return match collection(site) {
            Some((ParameterStyle::Form, false)) | None => (default, false),
            Some(other) => other,
        };
    }
    let style = member(site.value, "style").and_then(named).unwrap_or(default);
    let explode = site.value.get("explode").and_then(Value::as_bool);
    (style, explode.unwrap_or(matches!(style, ParameterStyle::Form | ParameterStyle::Cookie)))
}

/// The style of that name.
pub(crate) fn named(style: &str) -> Option<ParameterStyle> {
    Some(match style {
        "simple" => ParameterStyle::Simple,
        "label" => ParameterStyle::Label,
        "matrix" => ParameterStyle::Matrix,
        "form" => ParameterStyle::Form,
        "spaceDelimited" => ParameterStyle::SpaceDelimited,
        "pipeDelimited" => ParameterStyle::PipeDelimited,
        "deepObject" => ParameterStyle::DeepObject,
        "cookie" => ParameterStyle::Cookie,
        _ => return None,
    })
}

/// The `collectionFormat` of Swagger 2 as a style, and whether each item stands alone.
pub(crate) fn collection(site: DocumentSite<'_>) -> Option<(ParameterStyle, bool)> {
    match member(site.value, "collectionFormat")? {
        "csv" => Some((ParameterStyle::Form, false)),
        "ssv" => Some((ParameterStyle::SpaceDelimited, false)),
        "tsv" => Some((ParameterStyle::TabDelimited, false)),
        "pipes" => Some((ParameterStyle::PipeDelimited, false)),
        "multi" => Some((ParameterStyle::Form, true)),
        _ => None,
    }
}
