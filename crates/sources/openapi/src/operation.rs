//! One operation of a document, ready to be called: what a request is built of.

pub(crate) mod xml;

use std::sync::Arc;

use http::Method;
use serde_json::Value;
use toolcrib_core::Effect;

use xml::XmlModel;

/// An operation with all references followed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ApiOperation {
    /// Its id, else `METHOD /path`: how an operator names it.
    pub(crate) key: String,
    pub(crate) method: Method,
    /// What it does to the world; `None`: the method of each request tells.
    pub(crate) effect: Option<Effect>,
    /// Whether it knows a repetition by its idempotency key.
    pub(crate) takes_key: bool,
    pub(crate) path: Vec<PathSegment>,
    /// The query that the path of the document ends with: part of every request, and no argument
    /// adds to its names.
    pub(crate) query: Vec<FixedPair>,
    pub(crate) parameters: Vec<OperationParameter>,
    pub(crate) body: Option<OperationBody>,
    /// The first server of the operation, the path or the document, as text with its variables
    /// filled in: a proposal, of which only the path is ever used beside a configured host.
    pub(crate) server: Option<String>,
    /// Each entry is one way to be let in: all its schemes together. Empty: no way is needed.
    pub(crate) security: Vec<Vec<String>>,
    /// Media types of the success responses, for `Accept`.
    pub(crate) produces: Vec<String>,
}

/// A path between two slashes: texts and parameters, as in `/files/{name}.{format}`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PathSegment(pub(crate) Vec<PathPiece>);

/// One pair of a fixed query, as it stands in the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FixedPair {
    pub(crate) name: String,
    /// `None`: the name stands alone.
    pub(crate) value: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PathPiece {
    /// Sent as it stands in the document, percent-encoded where a URL needs it.
    Text(String),
    /// The parameter of this wire name.
    Parameter(String),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OperationParameter {
    /// Its name among the arguments of the tool.
    pub(crate) argument: String,
    /// Its name in the request.
    pub(crate) name: String,
    pub(crate) place: ParameterLocation,
    pub(crate) style: ParameterStyle,
    pub(crate) explode: bool,
    pub(crate) allow_reserved: bool,
    /// `content` instead of a style: the media type that the value is written in.
    pub(crate) media: Option<String>,
    pub(crate) required: bool,
    /// What is sent where nobody gives a value: the only one there is, as the path of the document
    /// has it.
    pub(crate) given: Option<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ParameterLocation {
    Path,
    Query,
    /// OpenAPI 3.2: the whole query string as one value.
    QueryString,
    Header,
    Cookie,
}

/// How arrays and objects are written; the names are those of the specification.
/// `Delimited` is Swagger 2's `tsv` beside the two that OpenAPI kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParameterStyle {
    Simple,
    Label,
    Matrix,
    Form,
    SpaceDelimited,
    PipeDelimited,
    TabDelimited,
    DeepObject,
    /// OpenAPI 3.2: a cookie as it is, without percent-encoding.
    Cookie,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OperationBody {
    /// The media type that is sent, `application/json` where there is a choice.
    pub(crate) media: String,
    pub(crate) required: bool,
    pub(crate) shape: BodyShape,
    /// How the arguments are written as XML; `None`: they are not, or as the caller writes them.
    pub(crate) xml: Option<Arc<XmlModel>>,
}

/// Where the body is among the arguments.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum BodyShape {
    /// Each field is an argument of its own.
    Fields(Vec<BodyField>),
    /// The whole body is this argument.
    Whole { argument: String, schema: Value },
}

/// One field of an object body.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BodyField {
    pub(crate) argument: String,
    pub(crate) name: String,
    /// For forms and multipart: how the field is written (`encoding` of the media type).
    pub(crate) encoding: FieldEncoding,
    /// The schema says that it holds bytes: the argument has them in base64.
    pub(crate) bytes: bool,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct FieldEncoding {
    pub(crate) media: Option<String>,
    /// `None`: what the media type of the body does by default.
    pub(crate) style: Option<ParameterStyle>,
    pub(crate) explode: Option<bool>,
    pub(crate) allow_reserved: bool,
}
