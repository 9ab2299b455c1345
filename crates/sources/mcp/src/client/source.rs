//! An MCP server as a source of tools.

mod effect_hints;
pub(crate) mod list;
mod list_notice;
pub(crate) mod resources;
pub(crate) mod status;
mod tool;
mod tool_specs;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use toolcrib_child::StderrTail;
use toolcrib_core::{BoxFuture, Resources, Source, SourceError, SourceId, Tool, Toolset};

use super::fault::McpFault;
use super::settings::McpSourceSettings;
use crate::client::connection::connector::ServerConnector;
use crate::client::connection::server_info::hints;
use crate::client::list_kind::TOOLS;
use crate::client::upstream::pool::UpstreamPool;
use list_notice::next;
use resources::McpResources;
use status::{LeftOutTool, McpEra, McpSourceStatus, ProgramOutput};
use tool::McpTool;
use tool_specs::ConvertedTool;

/// A server that announces changes without a pause is asked this often and no more.
const QUIET: Duration = Duration::from_millis(50);
const LONGEST_UNREST: Duration = Duration::from_secs(1);
/// Lines of standard error that a status shows.
const STDERR_LINES: usize = 20;

/// What a source takes from its surroundings.
#[derive(Debug, Clone, Default)]
pub struct McpEnvironment {
    /// The host's environment; children get a short list of harmless variables of it.
    pub environment: Vec<(String, String)>,
}

/// One MCP server. Nothing is started before the first `load` or call; dropped, it takes its
/// children along.
pub struct McpSource {
    pool: Arc<UpstreamPool>,
    listed: Mutex<LastToolList>,
    /// Told when the server said that its tools changed, and they are the same.
    announced: watch::Sender<()>,
}

/// The last good list.
#[derive(Default)]
struct LastToolList {
    digest: Option<[u8; 32]>,
    /// How many changes and ends had been told when it was asked for.
    changes: u64,
    ends: u64,
    /// How often the server had said that it changed.
    announced: u64,
    has_tools: bool,
    /// An empty list after an end was not believed once.
    doubted: bool,
    left_out: Vec<LeftOutTool>,
    remarks: Vec<String>,
}

/// A list as it came.
struct FetchedToolList {
    tools: Vec<Box<RawValue>>,
    note: Option<String>,
    instructions: String,
    digest: [u8; 32],
}

impl McpSource {
    /// `id`: the name of the source, for messages and for the origin of its tools.
    pub fn new(id: &str, settings: McpSourceSettings, surroundings: McpEnvironment) -> Self {
        let opener = ServerConnector::new(settings, surroundings.environment);
        let pool = Arc::new(UpstreamPool::new(SourceId::new(id), opener));
        Self { pool, listed: Mutex::default(), announced: watch::Sender::new(()) }
    }

    fn listed(&self) -> MutexGuard<'_, LastToolList> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How it fares now.
    pub fn status(&self) -> McpSourceStatus {
        let mut all = self.pool.all();
        let restarts = all.iter().map(|upstream| upstream.health().restarts).sum();
        all.extend(self.pool.beside());
        let live: Vec<_> = all.iter().filter_map(|upstream| upstream.current()).collect();
        let (left_out, remarks) = {
            let listed = self.listed();
            (listed.left_out.clone(), listed.remarks.clone())
        };
        let health = self.pool.listing.health();
        let stderr = health.stderr.as_ref().map(StderrTail::text).unwrap_or_default();
        let lines: Vec<_> = stderr.lines().map(str::to_owned).collect();
        let facts = &health.facts;
        let known = !facts.revision.is_empty();
        McpSourceStatus {
            phase: health.phase,
            server: facts.name.clone(),
            version: facts.version.clone(),
            revision: known.then(|| facts.revision.clone()),
            era: known.then_some(if facts.is_modern { McpEra::Modern } else { McpEra::Legacy }),
            pid: health.pid,
            connections: live.len(),
            in_flight: all.iter().map(|upstream| upstream.in_flight()).sum(),
            restarts,
            last_error: health.last_error.clone(),
            stderr: lines.get(lines.len().saturating_sub(STDERR_LINES)..).unwrap_or(&[]).to_vec(),
            left_out,
            notes: self.pool.notes(),
            remarks,
        }
    }

    /// What its program wrote to its standard error behind a place, as
    /// [`ProgramOutput::next`] gave it; `None`: no program was started. Of the program that lists
    /// the tools, where each call has one of its own.
    pub fn output(&self, after: Option<&str>) -> Option<ProgramOutput> {
        let said = self.pool.said()?;
        let place = after.and_then(|place| place.split_once('.'));
        let place = place.and_then(|(program, line)| {
            Some((program.parse::<u64>().ok()?, line.parse::<u64>().ok()?))
        });
        // Of another program nothing is known.
        let known = place.filter(|(program, _)| said.number() == *program);
        let known = known.map_or(0, |(_, line)| line);
        let lines = said.lines(known);
        let last = lines.last().map_or(known, |line| line.number);
        Some(ProgramOutput {
            program: said.number(),
            lines,
            next: format!("{}.{last}", said.number()),
        })
    }

    /// Makes room for so many conversations at the same time, where each has a connection of its own
    /// (`share = "session"`): what its server knows of one goes on as long as that does.
    pub fn expect_sessions(&self, conversations: usize) {
        self.pool.expect(conversations);
    }

    /// Ends the connection that a conversation had for itself: a program ends, a session over HTTP
    /// is deleted. Another call of the conversation begins anew.
    pub async fn end_session(&self, session: &str) {
        self.pool.end_session(session).await;
    }

    /// Stops every child and connection, and waits until they are gone. Calls fail from here on.
    pub async fn stop(&self) {
        self.pool.stop().await;
    }

    async fn fetch(&self) -> Result<FetchedToolList, McpFault> {
        let within = self.pool.settings().timeouts.list;
        let connection = self.pool.listing.connection(None).await?;
        let tools = match list::all(&connection, TOOLS, within).await {
            Err(fault) if fault.never_sent() => {
                self.pool.listing.lose(&connection, &fault);
                let connection = self.pool.listing.connection(None).await?;
                list::all(&connection, TOOLS, within).await?
            }
            listed => listed?,
        };
        let list::FetchedList { entries: tools, besides, note } = tools;
        self.pool.hint(TOOLS.method, hints(besides));
        self.pool.listing.touch();
        let instructions = connection.facts.instructions.clone();
        let whole = serde_json::to_vec(&(&tools, &instructions)).unwrap_or_default();
        Ok(FetchedToolList { tools, note, instructions, digest: Sha256::digest(whole).into() })
    }

    async fn load_now(&self) -> Result<Toolset, SourceError> {
        let ((changes, ends), announced) = (self.told(), self.announcements());
        let id = &self.pool.id;
        let fetched = self.fetch().await.map_err(|fault| {
            self.pool.listing.health().tell(&fault);
            fault.into_source_error(id.as_str())
        })?;
        self.believe(fetched.tools.is_empty(), ends)?;
        let settings = self.pool.settings();
        let specs = tool_specs::of(fetched.tools, id, settings, &fetched.instructions);
        self.pool.learn(specs.mirrored);
        self.pool.note(TOOLS.method, fetched.note.into_iter().collect());
        let foreign =
            specs.taken.into_iter().map(|ConvertedTool { name, spec, is_task, .. }| {
                let (spec, pool) = (Arc::new(spec), Arc::clone(&self.pool));
                Arc::new(McpTool { name, spec, is_task, pool }) as Arc<dyn Tool>
            });
        let toolset = Toolset::of(foreign).map_err(|conflict| {
            SourceError::new(format!("MCP server `{id}`: two tools of one name")).because(conflict)
        })?;
        let toolset = toolset.with_aside(specs.left_out.iter().filter_map(|out| out.aside(id)));
        *self.listed() = LastToolList {
            digest: Some(fetched.digest),
            changes,
            ends,
            announced,
            has_tools: !toolset.is_empty(),
            doubted: false,
            left_out: specs.left_out,
            remarks: specs.remarks,
        };
        Ok(toolset)
    }

    /// A server that has just been started again may not have its tools together yet: an empty
    /// list is then believed the second time.
    fn believe(&self, is_empty: bool, ends: u64) -> Result<(), SourceError> {
        let mut listed = self.listed();
        let is_doubtful = is_empty && listed.has_tools && listed.ends != ends && !listed.doubted;
        if !is_doubtful {
            return Ok(());
        }
        listed.doubted = true;
        Err(SourceError::new(format!(
            "MCP server `{}`: it lists no tools since it was started again; it is asked once more",
            self.pool.id
        )))
    }

    /// How many changes and ends the listing connection has told of.
    fn told(&self) -> (u64, u64) {
        let listing = &self.pool.listing;
        (*listing.news.tools.borrow(), *listing.ends.borrow())
    }

    fn announcements(&self) -> u64 {
        self.pool.listing.news.announced(TOOLS)
    }

    /// Waits until there may be another list; `true`: the connection that listed it is gone.
    async fn unrest(&self, changes: u64, ends: u64) -> bool {
        let listing = &self.pool.listing;
        let mut lists = listing.news.tools.subscribe();
        let mut ended = listing.ends.subscribe();
        let told = tokio::select! {
            biased;
            _ = ended.wait_for(|count| *count != ends) => return true,
            _ = lists.wait_for(|count| *count != changes) => true,
            () = self.next_poll() => false,
        };
        if told {
            let calm = async { while timeout(QUIET, lists.changed()).await.is_ok() {} };
            let _ = timeout(LONGEST_UNREST, calm).await;
        }
        false
    }

    /// Ends when it is time to ask a server that tells nothing by itself.
    async fn next_poll(&self) {
        let Some(pause) = self.pool.settings().poll else {
            return std::future::pending().await;
        };
        loop {
            sleep(pause).await;
            // A server that was stopped because nobody needs it is not started to be asked.
            if self.pool.listing.current().is_some_and(|live| !live.tells_changes()) {
                return;
            }
        }
    }
}

/// Whoever lets go of a source means its servers too; calls that run may end first.
impl Drop for McpSource {
    fn drop(&mut self) {
        UpstreamPool::retire(&self.pool);
    }
}

impl Source for McpSource {
    fn load(&self) -> BoxFuture<'_, Result<Toolset, SourceError>> {
        Box::pin(self.load_now())
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            loop {
                let (digest, changes, ends) = {
                    let listed = self.listed();
                    (listed.digest, listed.changes, listed.ends)
                };
                if self.unrest(changes, ends).await {
                    return;
                }
                let ((changes, ends), announced) = (self.told(), self.announcements());
                match self.fetch().await {
                    Ok(fetched) if digest == Some(fetched.digest) => {
                        let mut listed = self.listed();
                        (listed.changes, listed.ends) = (changes, ends);
                        if std::mem::replace(&mut listed.announced, announced) != announced {
                            self.announced.send_replace(());
                        }
                    }
                    _ => return,
                }
            }
        })
    }

    fn change_announced(&self) -> BoxFuture<'static, ()> {
        next(&self.announced)
    }

    fn unlisted_tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let listed = self.listed();
        let shown = tool_specs::shown(name);
        // What is listed and could not be taken stays out.
        let is_left_out = || listed.left_out.iter().any(|tool| tool.tool == shown);
        if listed.digest.is_none() || is_left_out() {
            return None;
        }
        drop(listed);
        let spec = Arc::new(tool_specs::unlisted(name, &self.pool.id, self.pool.settings())?);
        let (name, pool) = (name.to_owned(), Arc::clone(&self.pool));
        Some(Arc::new(McpTool { name, spec, is_task: false, pool }))
    }

    fn library(&self) -> Option<Arc<dyn Resources>> {
        Some(Arc::new(McpResources::new(Arc::clone(&self.pool))))
    }
}
