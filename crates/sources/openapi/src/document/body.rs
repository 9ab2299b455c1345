//! The body of a request, and the arguments that it is made of.

mod exclusions;
pub(crate) mod fields;
mod xml;

use std::collections::HashMap;
use std::sync::Arc;

use http::Method;
use serde_json::{Value, json};

use super::document_set::DocumentSite;
use super::media::{self, MediaKind};
use super::operations::DeclaredOperation;
use super::schema::SchemaPart;
use super::schema::assemble::{ToolArgument, ToolInput};
use super::text::{flag, line, member};
use crate::document::operations::argument_names::ArgumentNames;
use crate::document::operations::conversion_state::ConversionState;
use crate::document::operations::parameters::{
    DeclaredLocation, DeclaredParameter, collection, named,
};
use crate::operation::{BodyField, BodyShape, FieldEncoding, OperationBody, ParameterStyle};
use fields::{PlainBody, PlainField};

/// A body, and what a tool takes for it.
pub(super) struct ConvertedBody {
    body: OperationBody,
    arguments: Vec<ToolArgument>,
    barred: Option<Value>,
}

impl ConvertedBody {
    /// Adds to what a tool takes.
    pub(super) fn onto(self, takes: &mut ToolInput) -> OperationBody {
        takes.arguments.extend(self.arguments);
        takes.barred = self.barred;
        self.body
    }
}

/// A body as a document declares it.
struct DeclaredBody<'l> {
    media: String,
    schema: Option<DocumentSite<'l>>,
    encoding: Option<DocumentSite<'l>>,
    required: bool,
    description: Option<&'l str>,
}

/// Media types of a body to choose from; many operations may share it.
const MOST_MEDIA: usize = 100;

/// The body of an operation of `OpenAPI` 3, if it has one.
pub(super) fn of_operation<'l>(
    context: &mut ConversionState<'l>,
    found: &DeclaredOperation<'l>,
    taken: &mut ArgumentNames,
    about: &str,
) -> Result<Option<ConvertedBody>, String> {
    let method = &found.method;
    let Some(site) = found.operation.get("requestBody") else { return Ok(None) };
    let site = context.library.follow(site).map_err(|why| format!("of its body {why}"))?;
    let required = flag(site.value, "required");
    let offers = site.get("content").into_iter().flat_map(DocumentSite::members).take(MOST_MEDIA);
    let best = offers
        .filter(|(media, _)| media::is_media(media))
        .min_by_key(|(media, offer)| (loses_files(context, media, *offer), media::rank(media)));
    let Some((media, offer)) = best else {
        return if required { Err("its body has no media type".to_owned()) } else { Ok(None) };
    };
    let offer = context.library.follow(offer).unwrap_or(offer);
    let sent = DeclaredBody {
        media: media.clone(),
        schema: offer.get("schema"),
        encoding: offer.get("encoding"),
        required,
        description: member(site.value, "description"),
    };
    // `GET` with a body means nothing to RFC 9110: what may be left out is.
    if (method == Method::GET || method == Method::HEAD) && !required {
        return Ok(None);
    }
    Ok(convert(context, &sent, taken, about))
}

/// Whether a form has files, which only `multipart` sends as they are.
fn loses_files(context: &ConversionState<'_>, media: &str, offer: DocumentSite<'_>) -> bool {
    let schema = offer.get("schema").filter(|_| media::kind(media) == MediaKind::Form);
    let flat = schema.and_then(|schema| fields::flatten(context.library, schema));
    flat.is_some_and(|flat| flat.fields.values().any(|held| files(context, held.site).is_some()))
}

/// The body of an operation of Swagger 2, of which it is a parameter, or several.
pub(super) fn of_parameters<'l>(
    context: &mut ConversionState<'l>,
    operation: DocumentSite<'l>,
    declared: &[DeclaredParameter<'l>],
    taken: &mut ArgumentNames,
    about: &str,
) -> Option<ConvertedBody> {
    let consumes = operation.get("consumes").or_else(|| context.library.root(0).get("consumes"));
    let consumes = consumes.into_iter().flat_map(DocumentSite::items);
    let consumes: Vec<&str> = consumes
        .take(MOST_MEDIA)
        .filter_map(|media| media.value.as_str())
        .filter(|media| media::is_media(media))
        .collect();
    if let Some(body) = declared.iter().find(|declared| declared.into == DeclaredLocation::Body) {
        let media = consumes.iter().min_by_key(|media| media::rank(media));
        let sent = DeclaredBody {
            media: (*media.unwrap_or(&"application/json")).to_owned(),
            schema: body.site.get("schema"),
            encoding: None,
            required: flag(body.site.value, "required"),
            description: member(body.site.value, "description"),
        };
        return convert(context, &sent, taken, about);
    }
    let form: Vec<&DeclaredParameter<'l>> =
        declared.iter().filter(|declared| declared.into == DeclaredLocation::Form).collect();
    if form.is_empty() {
        return None;
    }
    let has_files = form.iter().any(|field| member(field.site.value, "type") == Some("file"));
    let is_multipart = |media: &&str| media::kind(media) == MediaKind::Multipart;
    let only_multipart = !consumes.is_empty() && consumes.iter().all(is_multipart);
    let media = if has_files || only_multipart {
        "multipart/form-data"
    } else {
        "application/x-www-form-urlencoded"
    };
    let required = form.iter().any(|field| flag(field.site.value, "required"));
    let flat = PlainBody::of(form.iter().map(|field| (field.name, field.site)));
    let Some(names) = taken.fields(flat.fields.keys().copied()) else {
        return Some(whole_form(media, required, taken));
    };
    let mut fields = Vec::new();
    let mut arguments = Vec::new();
    for ((name, held), argument) in flat.fields.iter().zip(names) {
        let site = held.site;
        let bytes = member(site.value, "type") == Some("file");
        let mut part = context.sent.part(site, about);
        if bytes {
            part.hold_files(false);
        }
        let name = (*name).to_owned();
        let required = flag(site.value, "required");
        arguments.push(ToolArgument { name: argument.clone(), part, required });
        fields.push(BodyField { argument, name, encoding: collected(site), bytes });
    }
    let shape = BodyShape::Fields(fields);
    let body = OperationBody { media: media.to_owned(), required, shape, xml: None };
    Some(ConvertedBody { body, arguments, barred: None })
}

/// How a list is written in a form of Swagger 2: separated by commas where nothing is said.
fn collected(site: DocumentSite<'_>) -> FieldEncoding {
    let is_list = member(site.value, "type") == Some("array");
    let usual = is_list.then_some((ParameterStyle::Form, false));
    let (style, explode) = collection(site).or(usual).unzip();
    FieldEncoding { style, explode, ..FieldEncoding::default() }
}

/// A form of which two fields would have one name.
fn whole_form(media: &str, required: bool, taken: &mut ArgumentNames) -> ConvertedBody {
    let schema = json!({ "type": "object" });
    let argument = taken.body();
    let part = SchemaPart::of(schema.clone());
    let arguments = vec![ToolArgument { name: argument.clone(), part, required }];
    let shape = BodyShape::Whole { argument, schema };
    let body = OperationBody { media: media.to_owned(), required, shape, xml: None };
    ConvertedBody { body, arguments, barred: None }
}

fn convert<'l>(
    context: &mut ConversionState<'l>,
    sent: &DeclaredBody<'l>,
    taken: &mut ArgumentNames,
    about: &str,
) -> Option<ConvertedBody> {
    let kind = media::kind(&sent.media);
    let xml = sent.schema.filter(|_| kind == MediaKind::Xml);
    let xml = xml.map_or(Ok(None), |schema| xml::shape(context.library, schema));
    let xml = xml.unwrap_or_else(|why| {
        context.notes.add(about, format!("its body is taken as XML text: {why}"));
        None
    });
    let is_split =
        xml.is_some() || matches!(kind, MediaKind::Json | MediaKind::Form | MediaKind::Multipart);
    let flat = sent.schema.filter(|_| is_split);
    let flat = flat.and_then(|schema| fields::flatten(context.library, schema));
    if let Some(flat) = flat {
        if flat.fields.is_empty() && !sent.required {
            return None;
        }
        // A body that may be left out is whole where its fields may not all be.
        let is_barred = flat.barred.iter().any(|rule| exclusions::holds_of_nothing(rule));
        let is_split = sent.required || !is_barred;
        if is_split && let Some(names) = taken.fields(flat.fields.keys().copied()) {
            let mut made = of_fields(context, sent, &flat, names, about);
            made.body.xml = xml.map(Arc::new);
            return Some(made);
        }
    }
    let mut part = match sent.schema {
        Some(schema) if is_split => context.sent.part(schema, about),
        _ if is_split => SchemaPart::of(json!({})),
        _ => SchemaPart::of(json!({ "type": "string" })),
    };
    part.describe(sent.description);
    let is_text = sent.schema.is_some_and(|schema| is_text(context, schema));
    match kind {
        MediaKind::Bytes if !is_text => part.hold_bytes(),
        MediaKind::Xml if xml.is_none() => part.describe(Some("The body as XML text.")),
        MediaKind::Xml
        | MediaKind::Json
        | MediaKind::Form
        | MediaKind::Multipart
        | MediaKind::Text
        | MediaKind::Bytes => {}
    }
    let argument = taken.body();
    let shape = BodyShape::Whole { argument: argument.clone(), schema: part.outline() };
    let (media, required) = (media::sendable(&sent.media), sent.required);
    let body = OperationBody { media, required, shape, xml: xml.map(Arc::new) };
    let arguments = vec![ToolArgument { name: argument, part, required: sent.required }];
    Some(ConvertedBody { body, arguments, barred: None })
}

fn of_fields<'l>(
    context: &mut ConversionState<'l>,
    sent: &DeclaredBody<'l>,
    flat: &PlainBody<'l>,
    names: Vec<String>,
    about: &str,
) -> ConvertedBody {
    let is_json = media::is_json(&sent.media);
    let is_multipart = media::kind(&sent.media) == MediaKind::Multipart;
    let mut fields = Vec::new();
    let mut arguments = Vec::new();
    let barred = barred(flat, &names);
    for name in &flat.undescribed {
        let name = line(name, 60);
        context
            .notes
            .add(about, format!("`{name}` is required and described nowhere: it may be anything"));
    }
    for ((name, held), argument) in flat.fields.iter().zip(names) {
        let files = files(context, held.site).filter(|_| !is_json);
        let parts = held.sites().map(|site| context.sent.part(site, about)).collect();
        let mut part = SchemaPart::any_of(parts);
        remark(&mut part, name, held, flat);
        match files {
            Some(files) if is_multipart => part.hold_files(files == FileCount::Many),
            Some(FileCount::One) => part.hold_bytes(),
            Some(FileCount::Many) | None => {}
        }
        // A body that may be left out has no field that must be there.
        let required = sent.required && flat.required.contains(name);
        let encoding =
            sent.encoding.and_then(|all| all.get(name)).map(|site| encoding(site, files.is_some()));
        let encoding = encoding.unwrap_or_default();
        arguments.push(ToolArgument { name: argument.clone(), part, required });
        fields.push(BodyField {
            argument,
            name: (*name).to_owned(),
            encoding,
            bytes: files.is_some(),
        });
    }
    let shape = BodyShape::Fields(fields);
    let (media, required) = (media::sendable(&sent.media), sent.required);
    ConvertedBody { body: OperationBody { media, required, shape, xml: None }, arguments, barred }
}

/// Says of a field which kinds of a body have it, and of the one that tells them apart, which are
/// known.
fn remark(part: &mut SchemaPart, name: &str, held: &PlainField<'_>, flat: &PlainBody<'_>) {
    const MOST_SAID: usize = 20;
    let said = |values: &[String]| {
        let quoted = values.iter().take(MOST_SAID).map(|value| format!("`{}`", line(value, 60)));
        let more = if values.len() > MOST_SAID { ", …" } else { "" };
        format!("{}{more}", quoted.collect::<Vec<_>>().join(", "))
    };
    if let Some(values) = flat.told_by.get(name).filter(|values| !values.is_empty()) {
        part.remark(&format!("Tells which other fields there are: {}.", said(values)));
    }
    if let Some(told_by) = flat.told_by.keys().next().filter(|_| !held.of.is_empty()) {
        part.remark(&format!("Where `{}` is {}.", line(told_by, 60), said(&held.of)));
    }
}

/// What must not hold of the arguments that are fields.
fn barred(flat: &PlainBody<'_>, names: &[String]) -> Option<Value> {
    let names: HashMap<&str, &str> =
        flat.fields.keys().copied().zip(names.iter().map(String::as_str)).collect();
    let mut rules: Vec<Value> =
        flat.barred.iter().filter_map(|rule| exclusions::renamed(rule, &names)).collect();
    if rules.len() > 1 { Some(json!({ "anyOf": rules })) } else { rules.pop() }
}

fn encoding(site: DocumentSite<'_>, is_file: bool) -> FieldEncoding {
    let medias = member(site.value, "contentType").unwrap_or_default().split(',').take(20);
    let medias = medias.map(str::trim).filter(|media| media::is_media(media));
    let medias: Vec<&str> = medias.collect();
    FieldEncoding {
        // A file says itself which of them it is.
        media: if is_file {
            Some(medias.join(", ")).filter(|medias| !medias.is_empty())
        } else {
            medias.first().map(|media| media::sendable(media))
        },
        style: member(site.value, "style").and_then(named),
        explode: site.value.get("explode").and_then(Value::as_bool),
        allow_reserved: flag(site.value, "allowReserved"),
    }
}

/// What a field holds that holds bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileCount {
    One,
    Many,
}

/// `None`: the field holds no bytes.
fn files(context: &ConversionState<'_>, field: DocumentSite<'_>) -> Option<FileCount> {
    let field = context.library.follow(field).ok()?;
    if let Some(items) = field.get("items").and_then(|items| context.library.follow(items).ok()) {
        return is_binary(items.value).then_some(FileCount::Many);
    }
    is_binary(field.value).then_some(FileCount::One)
}

fn is_binary(schema: &Value) -> bool {
    let is_raw =
        schema.get("contentMediaType").is_some() && schema.get("contentEncoding").is_none();
    member(schema, "format") == Some("binary") || member(schema, "type") == Some("file") || is_raw
}

fn is_text(context: &ConversionState<'_>, schema: DocumentSite<'_>) -> bool {
    let schema = context.library.follow(schema).map(|schema| schema.value);
    schema.is_ok_and(|schema| member(schema, "type") == Some("string") && !is_binary(schema))
}
