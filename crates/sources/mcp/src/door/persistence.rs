//! What outlives one process of a server: what it has in common with those before, beside and after
//! it.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ErrorCode, ErrorData};
use serde_json::json;
use tokio::time::timeout;
use toolcrib_core::{BoxFuture, LedgerError, Secret, SessionLedger};
use uuid::Uuid;

/// How long it is asked whether a process lives.
const ASKING: Duration = Duration::from_secs(3);

/// Letters and digits of the longest name of a process.
const LONGEST_HOME: usize = 64;

/// The code of what another process must be asked for.
pub(crate) const ELSEWHERE: ErrorCode = ErrorCode(-32_050);

/// What a server shares with its other processes. By default it shares nothing, and what its clients
/// come back for ends with it.
#[derive(Clone, Default)]
pub struct McpPersistence {
    /// Where sessions of older clients are written down, so that another process takes them up.
    pub sessions: Option<Arc<dyn SessionLedger>>,
    /// The secret of all processes that serve at the same time: by it each of them knows the names
    /// of sessions that another one gave. `None`: there are no others. Names that a process before
    /// gave are then looked for in `sessions`.
    pub secret: Option<Secret>,
    /// Which processes live. `None`: this one alone.
    pub homes: Option<Arc<dyn McpHomes>>,
}

/// The processes that serve at the same time. What lives in one of them alone has it for its home.
pub trait McpHomes: Send + Sync {
    /// The name of this one by now: of letters and digits, and no other has or had it.
    fn own(&self) -> String;

    /// Whether one of that name lives, or may live. One that nobody has heard of does not.
    fn is_alive<'a>(&'a self, home: &'a str) -> BoxFuture<'a, Result<bool, LedgerError>>;
}

/// Where something is by whose name a client comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NamedPlace {
    /// In this process, or nowhere.
    Here,
    /// In a process that lives, or of which nobody knows now whether it does.
    Elsewhere,
    /// It was cut off with its process.
    Gone,
}

/// Gives names to what lives in this process, and finds the homes of those that others gave.
#[derive(Clone)]
pub(super) struct NamedHomes(Arc<dyn McpHomes>);

impl NamedHomes {
    pub(super) fn of(persistence: &McpPersistence) -> Self {
        Self(persistence.homes.as_ref().map_or_else(|| Arc::new(SoleHome::new()) as _, Arc::clone))
    }

    /// A new name of that kind.
    pub(super) fn name(&self, kind: &str) -> String {
        // 122 random bits of the operating system.
        format!("{kind}_{}_{}", self.0.own(), Uuid::new_v4().simple())
    }

    /// Where that is which has a name of this kind, and is not to be found here. A name that we
    /// never give is of nothing.
    pub(super) async fn place(&self, kind: &str, name: &str) -> NamedPlace {
        let parts = name.strip_prefix(kind).and_then(|rest| rest.strip_prefix('_'));
        let Some((home, own)) = parts.and_then(|parts| parts.split_once('_')) else {
            return NamedPlace::Here;
        };
        let is_home = home.len() <= LONGEST_HOME
            && !home.is_empty()
            && home.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !is_home || Uuid::parse_str(own).is_err() || home == self.0.own() {
            return NamedPlace::Here;
        }
        // Only of a home that is known to be gone nothing can run any more.
        match timeout(ASKING, self.0.is_alive(home)).await {
            Ok(Ok(false)) => NamedPlace::Gone,
            Ok(Ok(true) | Err(_)) | Err(_) => NamedPlace::Elsewhere,
        }
    }
}

/// One answer for what goes on in another process: as it is not known here, whose it is is not known
/// either.
pub(crate) fn elsewhere() -> ErrorData {
    let told = "this goes on in another process of this server, and is not to be had here: send \
                the same request again";
    ErrorData::new(ELSEWHERE, told, Some(json!({ "retryAfterMs": 1_000 })))
}

/// One process after the other.
struct SoleHome(String);

impl SoleHome {
    fn new() -> Self {
        Self(Uuid::new_v4().simple().to_string())
    }
}

impl McpHomes for SoleHome {
    fn own(&self) -> String {
        self.0.clone()
    }

    fn is_alive<'a>(&'a self, home: &'a str) -> BoxFuture<'a, Result<bool, LedgerError>> {
        let lives = home == self.0;
        Box::pin(std::future::ready(Ok(lives)))
    }
}
