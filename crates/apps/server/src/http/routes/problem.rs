//! What went wrong with a request, as RFC 9457 tells it: every kind has a `type` that stays.

use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use serde_json::{Value, json};
use toolcrib_json::invisible::prose;

use super::reply::{HttpReply, ReplyBody, whole};

/// The kinds of problems; their names are part of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProblemKind {
    BadRequest,
    BadHost,
    BadOrigin,
    Unauthenticated,
    Forbidden,
    InsufficientScope,
    UnknownRoute,
    WrongMethod,
    NotJson,
    TooLarge,
    TooSlow,
    InvalidBody,
    InvalidQuery,
    UnknownTool,
    SourceStarting,
    UnknownProfile,
    UnknownPlan,
    OtherProfile,
    UnknownCall,
    UnknownCursor,
    UnknownTicket,
    UnknownResult,
    UnknownSource,
    UnknownAgent,
    UnknownRun,
    UnknownSession,
    RunBusy,
    NothingLeft,
    NoRoom,
    NotAReply,
    TicketRefused,
    EndKnown,
    OverlayOff,
    VersionConflict,
    ChangeRefused,
    UnknownChange,
    UnknownFreeze,
    DriftRefused,
    KeyConflict,
    KeyInUse,
    OutcomeUnknown,
    TooMany,
    Unavailable,
    Broken,
}

impl ProblemKind {
    pub(crate) const ALL: [Self; 44] = [
        Self::BadRequest,
        Self::BadHost,
        Self::BadOrigin,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::InsufficientScope,
        Self::UnknownRoute,
        Self::WrongMethod,
        Self::NotJson,
        Self::TooLarge,
        Self::TooSlow,
        Self::InvalidBody,
        Self::InvalidQuery,
        Self::UnknownTool,
        Self::SourceStarting,
        Self::UnknownProfile,
        Self::UnknownPlan,
        Self::OtherProfile,
        Self::UnknownCall,
        Self::UnknownCursor,
        Self::UnknownTicket,
        Self::UnknownResult,
        Self::UnknownSource,
        Self::UnknownAgent,
        Self::UnknownRun,
        Self::UnknownSession,
        Self::RunBusy,
        Self::NothingLeft,
        Self::NoRoom,
        Self::NotAReply,
        Self::TicketRefused,
        Self::EndKnown,
        Self::OverlayOff,
        Self::VersionConflict,
        Self::ChangeRefused,
        Self::UnknownChange,
        Self::UnknownFreeze,
        Self::DriftRefused,
        Self::KeyConflict,
        Self::KeyInUse,
        Self::OutcomeUnknown,
        Self::TooMany,
        Self::Unavailable,
        Self::Broken,
    ];

    /// Name, status and title.
    fn row(self) -> (&'static str, u16, &'static str) {
        match self {
            Self::BadRequest => ("bad-request", 400, "The request is malformed"),
            Self::BadHost => ("bad-host", 403, "The request is for another host"),
            Self::BadOrigin => ("bad-origin", 403, "The request comes from another site"),
            Self::Unauthenticated => ("unauthenticated", 401, "A valid token is needed"),
            Self::Forbidden => ("forbidden", 403, "This is the operator's"),
            Self::InsufficientScope => ("insufficient-scope", 403, "The token lacks a scope"),
            Self::UnknownRoute => ("unknown-route", 404, "There is no such route"),
            Self::WrongMethod => ("wrong-method", 405, "The route has another method"),
            Self::NotJson => ("not-json", 415, "The body must be JSON"),
            Self::TooLarge => ("too-large", 413, "The body is too large"),
            Self::TooSlow => ("too-slow", 408, "The body did not come in time"),
            Self::InvalidBody => ("invalid-body", 422, "The body does not fit"),
            Self::InvalidQuery => ("invalid-query", 400, "The query does not fit"),
            Self::UnknownTool => ("unknown-tool", 404, "There is no such tool"),
            Self::SourceStarting => ("source-starting", 503, "Some tools are not there yet"),
            Self::UnknownProfile => ("unknown-profile", 404, "There is no such profile"),
            Self::UnknownPlan => ("unknown-plan", 404, "There is no such plan"),
            Self::OtherProfile => ("other-profile", 409, "The plan is of another profile"),
            Self::UnknownCall => ("unknown-call", 404, "There is no such running batch"),
            Self::UnknownCursor => ("unknown-cursor", 404, "The list has no such place"),
            Self::UnknownTicket => ("unknown-ticket", 404, "There is no such ticket"),
            Self::UnknownResult => ("unknown-result", 404, "There is no such result"),
            Self::UnknownSource => ("unknown-source", 404, "There is no such source"),
            Self::UnknownAgent => ("unknown-agent", 404, "There is no such agent"),
            Self::UnknownRun => ("unknown-run", 404, "There is no such run"),
            Self::UnknownSession => ("unknown-session", 404, "There is no such session"),
            Self::RunBusy => ("run-busy", 409, "The run has not ended"),
            Self::NothingLeft => ("nothing-left", 409, "No chosen tool is left"),
            Self::NoRoom => ("no-room", 409, "There is no room for all tools"),
            Self::NotAReply => ("not-a-reply", 422, "This is no reply of the model API"),
            Self::TicketRefused => ("ticket-refused", 409, "The ticket cannot be redeemed"),
            Self::EndKnown => ("end-known", 409, "The call takes no such end"),
            Self::OverlayOff => ("overlay-off", 409, "The file cannot be changed over here"),
            Self::VersionConflict => ("version-conflict", 409, "Somebody changed it meanwhile"),
            Self::ChangeRefused => ("change-refused", 409, "This cannot be changed so"),
            Self::UnknownChange => ("unknown-change", 404, "There is no such change"),
            Self::UnknownFreeze => ("unknown-freeze", 404, "There is no such freeze"),
            Self::DriftRefused => {
                ("drift-refused", 409, "The tools are not as they were looked at")
            }
            Self::KeyConflict => ("key-conflict", 409, "The key belongs to another request"),
            Self::KeyInUse => ("key-in-use", 409, "The request of this key still runs"),
            Self::OutcomeUnknown => ("outcome-unknown", 409, "Nobody can say how it ended"),
            Self::TooMany => ("too-many", 429, "Too many requests at the same time"),
            Self::Unavailable => ("unavailable", 503, "Not possible now"),
            Self::Broken => ("broken", 500, "The fault is ours"),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        self.row().0
    }

    /// The `type`: a name, and no address to open.
    pub(crate) fn uri(self) -> String {
        format!("urn:toolcrib:problem:{}", self.name())
    }

    pub(crate) fn status(self) -> StatusCode {
        StatusCode::from_u16(self.row().1).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

/// A kind with what is wrong this time and what to do about it.
#[derive(Debug)]
pub(crate) struct HttpProblem {
    kind: ProblemKind,
    detail: String,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// What a program may want to know besides.
    more: Option<Box<(&'static str, Value)>>,
}

impl HttpProblem {
    pub(crate) fn new(kind: ProblemKind, detail: impl Into<String>) -> Self {
        // Some of it is what was asked for, by whomever.
        let detail = prose(&detail.into()).into_owned();
        Self { kind, detail, headers: Vec::new(), more: None }
    }

    /// Of something that is not there, while some sources have not had their first chance.
    pub(crate) fn starting(name: &str) -> Self {
        let shown: String = name.chars().take(80).collect();
        let detail = format!(
            "`{shown}` is not there yet, and nothing ran: send it again, with a new plan if it came \
             with one"
        );
        Self::new(ProblemKind::SourceStarting, detail)
            .with(header::RETRY_AFTER, HeaderValue::from_static("1"))
    }

    pub(crate) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Adds a member of its own to the problem.
    pub(crate) fn telling(mut self, name: &'static str, value: Value) -> Self {
        self.more = Some(Box::new((name, value)));
        self
    }

    /// What is wrong, and what to do about it.
    pub(crate) fn told(&self) -> (ProblemKind, &str) {
        (self.kind, &self.detail)
    }

    /// Whether the same request may be answered later.
    pub(crate) fn is_passing(&self) -> bool {
        self.kind == ProblemKind::Unavailable
    }

    fn to_json(&self) -> Value {
        let (_, status, title) = self.kind.row();
        let mut problem = json!({
            "type": self.kind.uri(),
            "title": title,
            "status": status,
            "detail": self.detail,
        });
        if let (Value::Object(fields), Some(more)) = (&mut problem, &self.more) {
            fields.insert(more.0.to_owned(), more.1.clone());
        }
        problem
    }

    pub(crate) fn into_reply(self) -> HttpReply {
        let mut reply: Response<ReplyBody> = Response::new(whole(self.to_json().to_string()));
        *reply.status_mut() = self.kind.status();
        let kind = HeaderValue::from_static("application/problem+json");
        reply.headers_mut().insert(header::CONTENT_TYPE, kind);
        reply.headers_mut().extend(self.headers);
        reply
    }
}
