//! What an operator says about one MCP server, checked and with its secrets resolved.

use std::path::PathBuf;
use std::time::Duration;

pub use toolcrib_child::{ProgramLimits, RestartBounds};
use toolcrib_core::{FormFallback, Secret, Secrets};
use toolcrib_egress::Network;
use url::Url;

use crate::client::source::status::McpEra;

/// Connections beside the first one that calls which may ask have for themselves.
pub(crate) const MOST_APART: usize = 16;

/// One MCP server.
#[derive(Debug, Clone, PartialEq)]
pub struct McpSourceSettings {
    pub transport: McpTransport,
    pub share: ConnectionScope,
    /// The way to speak to a server that may have both; `None`: as its caller speaks, each in a
    /// program or over a connection of its own, and a program in the older one for whoever is no
    /// client. Over HTTP the older one is for clients that can be asked something.
    pub revision: Option<McpEra>,
    pub timeouts: McpTimeouts,
    pub bounds: McpBounds,
    /// What it may use, if it is a program.
    pub program: ProgramLimits,
    /// How often it may be started, or connected to, again.
    pub restarts: RestartBounds,
    /// How often the list is asked for when the server does not say that it changes.
    pub poll: Option<Duration>,
    /// Stops the server after it was idle this long; the next call starts it again.
    pub idle_stop: Option<Duration>,
    /// What becomes of its forms whose caller's host can put them to nobody.
    pub questions: FormFallback,
    /// Whether what the server says about itself goes into the system prompt.
    pub instructions: bool,
}

/// Who shares one connection to the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ConnectionScope {
    /// One for all callers.
    #[default]
    Shared,
    /// One for each conversation of each caller.
    Session,
    /// One for each caller.
    Caller,
}

#[derive(Debug, Clone, PartialEq)]
pub enum McpTransport {
    Stdio(StdioSettings),
    Http(Box<HttpSettings>),
}

/// A server that is a child process. It gets these variables and a short list of harmless ones
/// of ours, and nothing else.
#[derive(Debug, Clone, PartialEq)]
pub struct StdioSettings {
    pub command: PathBuf,
    pub arguments: Vec<String>,
    pub environment: Vec<(String, Secret)>,
    /// `None`: an empty folder of its own, gone with the child.
    pub folder: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct HttpSettings {
    pub url: Url,
    pub headers: Vec<(String, Secret)>,
    pub authorization: HttpAuthorization,
    /// What may be reached besides the address above.
    pub network: Network,
}

#[derive(Debug, Clone, PartialEq)]
pub enum HttpAuthorization {
    None,
    Bearer(Secret),
    /// OAuth 2.1 as the protocol demands it.
    OAuth(OAuthSettings),
}

/// How we present ourselves to an authorization server.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OAuthSettings {
    /// A client that was registered by hand; `None`: a client metadata document where the server
    /// takes one, else dynamic registration.
    pub client_id: Option<String>,
    pub client_secret: Option<Secret>,
    /// The address of our client metadata document.
    pub client_metadata: Option<Url>,
    pub scopes: Vec<String>,
    /// The folder of the tokens, made with mode 0700; each file has 0600.
    pub tokens: Option<PathBuf>,
    /// The server's own credentials are asked for, and no person (`client_credentials`).
    pub machine: bool,
    /// Longest document or answer of an authorization server, in bytes; `None`: 64 KiB.
    pub document: Option<u64>,
    /// Is told of every token and client secret that is had, before it is used.
    pub learned: Option<Secrets>,
}

/// How long each phase may take; an error says which one it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct McpTimeouts {
    /// Start, connection and handshake.
    pub connect: Duration,
    /// All pages of a list.
    pub list: Duration,
    /// A call without progress; each report of progress begins it anew.
    pub call: Duration,
    /// A call in all, whatever progress it makes.
    pub longest_call: Duration,
}

impl Default for McpTimeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            list: Duration::from_secs(30),
            call: Duration::from_mins(1),
            longest_call: Duration::from_mins(15),
        }
    }
}

/// How much the server may say; an error says which bound it was, by its name in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct McpBounds {
    /// Longest line, event or answer, in bytes.
    pub message: usize,
    /// Levels of objects and arrays in one; what reads JSON here stops at 128.
    pub depth: usize,
    /// Pages of one list.
    pub pages: usize,
    /// Entries of one list: tools, say.
    pub entries: usize,
    /// Largest definition of one tool, in bytes of JSON.
    pub definition: usize,
}

impl Default for McpBounds {
    fn default() -> Self {
        Self {
            message: 8 * 1024 * 1024,
            depth: 64,
            pages: 64,
            entries: 5_000,
            // A schema of the largest size and its texts; there are tools of 16 KiB and more.
            definition: 512 * 1024,
        }
    }
}

impl McpSourceSettings {
    /// The settings of a server of which nothing is said but where it is.
    pub fn new(transport: McpTransport) -> Self {
        Self {
            transport,
            share: ConnectionScope::default(),
            revision: None,
            timeouts: McpTimeouts::default(),
            bounds: McpBounds::default(),
            program: ProgramLimits::default(),
            restarts: RestartBounds::default(),
            poll: None,
            idle_stop: None,
            questions: FormFallback::default(),
            instructions: true,
        }
    }
}
