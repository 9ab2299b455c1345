//! What an operator says about one API, checked and with its secrets resolved.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use toolcrib_core::{Effect, Secret, Secrets};
use toolcrib_egress::Network;
use url::Url;

/// One API: its document, where it is, and who we are there.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiSettings {
    pub document: DocumentLocation,
    /// The only host that is ever called, with the path that those of the operations are appended
    /// to: it stands for the first server of the document. `None`: that server, if it is
    /// absolute, without variables that have no default, and public.
    pub base_url: Option<Url>,
    /// By the name of the security scheme in the document; `*` is for all of them.
    pub credentials: IndexMap<String, Credential>,
    /// The only places that the document may lead to while there are credentials or headers, as
    /// [`places`](crate::places()) told them to whoever decided; `None`: a document in a file may
    /// lead anywhere public. One at an address leads to its own origin alone, whatever this says.
    pub held_to: Option<Vec<Url>>,
    pub headers: Vec<(String, Secret)>,
    /// What no answer may show besides the headers and the credentials.
    pub secrets: Vec<Secret>,
    pub network: Network,
    /// Whether documents that the document refers to may be fetched from other hosts.
    pub remote_references: bool,
    pub grouping: Grouping,
    /// Which operations are wanted, by the names of their tools: others are not looked at.
    pub pick: OperationFilter,
    /// Adds a tool that makes any request of this API.
    pub generic_request: bool,
    /// The header that takes an idempotency key, where the API has one.
    pub idempotency_header: Option<String>,
    /// Operations (their ids, else `METHOD /path`; `*`: all) that know a repetition by that header:
    /// a call of one that changes something is sent again when its line breaks.
    pub resend: Vec<String>,
    /// Whether requests carry the place of their call in a trace, as `traceparent`.
    pub trace_context: bool,
    /// By operation (its id, else `METHOD /path`): what the method alone does not tell.
    pub effects: IndexMap<String, Effect>,
    pub timeout: Duration,
    /// Largest response that is read, in bytes after decompression.
    pub max_response_bytes: u64,
    pub bounds: ApiBounds,
    /// Is told of every token that is had, before it is used; what it knows no answer shows.
    pub learned: Option<Secrets>,
}

/// What is read of an API besides its responses, and what unpacks of all that comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApiBounds {
    /// Largest document together with those that it refers to, in bytes; the largest in use have
    /// 15 MB.
    pub document: usize,
    /// Largest answer of a token server, in bytes.
    pub token: u64,
    /// What comes packed may unpack to this many times its size, beyond the first mebibyte.
    pub unpack: u64,
}

impl Default for ApiBounds {
    fn default() -> Self {
        Self { document: 128 * 1024 * 1024, token: 256 * 1024, unpack: 100 }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum DocumentLocation {
    File(PathBuf),
    Address(Url),
    /// The text itself.
    Text(String),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Credential {
    Bearer(Secret),
    Basic {
        /// Masked without a password, when it is a key; otherwise it is the name of somebody,
        /// whom answers may name, unless it stands among `ApiSettings::secrets`.
        user: Secret,
        password: Secret,
    },
    /// A key for an `apiKey` scheme, which says itself where the key goes.
    Key(Secret),
    ClientCredentials {
        /// `None`: as the document says.
        token_url: Option<Url>,
        client_id: String,
        client_secret: Secret,
        scopes: Vec<String>,
    },
    /// One for each caller; a caller without one is refused.
    ///
    /// `tenant/subject` names one caller: the first slash ends the tenant, and a tenant with a
    /// slash in its name has no entry. A name without a slash is a subject of the tenant `local`,
    /// which is that of whoever started the process: a subject is unique within its tenant alone.
    PerCaller(IndexMap<String, Credential>),
}

/// Some of the tools of a document. A tool beside its operations is not asked about here.
#[derive(Clone, Default)]
pub struct OperationFilter {
    /// How it was said: two that were said alike are alike.
    said: [Vec<String>; 2],
    wants: Option<Arc<NamePredicate>>,
}

type NamePredicate = dyn Fn(&str) -> bool + Send + Sync;

impl OperationFilter {
    /// `wants` knows a name that the patterns let in.
    pub fn new(
        include: Vec<String>,
        exclude: Vec<String>,
        wants: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self { said: [include, exclude], wants: Some(Arc::new(wants)) }
    }

    pub(crate) fn wants(&self, name: &str) -> bool {
        self.wants.as_ref().is_none_or(|wants| wants(name))
    }
}

impl fmt::Debug for OperationFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [include, exclude] = &self.said;
        let mut told = f.debug_struct("OperationFilter");
        told.field("include", include).field("exclude", exclude).finish_non_exhaustive()
    }
}

impl PartialEq for OperationFilter {
    fn eq(&self, other: &Self) -> bool {
        self.said == other.said
    }
}

/// How operations become categories.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Grouping {
    /// By their first tag; those without one by the first fixed segment of their path.
    #[default]
    Tag,
    /// All in one.
    None,
}

impl ApiSettings {
    /// Whether anything goes with the requests that not everybody may have.
    pub(crate) fn has_secrets(&self) -> bool {
        !self.credentials.is_empty() || !self.headers.is_empty()
    }

    /// The settings of an API of which nothing is said but its document.
    pub fn new(document: DocumentLocation) -> Self {
        Self {
            document,
            base_url: None,
            credentials: IndexMap::new(),
            held_to: None,
            headers: Vec::new(),
            secrets: Vec::new(),
            network: Network::default(),
            remote_references: false,
            grouping: Grouping::default(),
            pick: OperationFilter::default(),
            generic_request: false,
            idempotency_header: None,
            resend: Vec::new(),
            trace_context: false,
            effects: IndexMap::new(),
            timeout: Duration::from_mins(1),
            max_response_bytes: 8 * 1024 * 1024,
            bounds: ApiBounds::default(),
            learned: None,
        }
    }
}
