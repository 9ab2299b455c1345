//! A server that speaks Google's documents: Calendar v3, Tasks v1, Gmail v1, and OAuth.
//!
//! It keeps what it is told, answers over a real socket, and reads every request and every answer
//! of its own against the documents: what they do not know is refused and remembered, so that
//! neither a client nor this server can drift from them. What it does beyond them follows Google's
//! guides as far as the desk needs it; texts of messages come by `format=raw` alone.

mod calendar;
mod documents;
mod field_selection;
mod http;
mod mail;
mod oauth;
mod query;
mod reply;
mod tasks;

use std::collections::VecDeque;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

pub use self::http::browse;
use self::http::{GoogleHttpRequest, GoogleHttpResponse};
use self::reply::{ServiceRefusal, ServiceReply, put};

/// Who the account belongs to.
pub const OWNER: &str = "anna@example.org";
/// The client that may ask for tokens.
pub const CLIENT: &str = "desk-client";
pub const CLIENT_SECRET: &str = "desk-client-secret";
/// The refresh token that is good from the beginning.
pub const REFRESH_TOKEN: &str = "refresh-token-of-anna-1";

/// A server on a port of the loopback; dropped, it answers no more.
pub struct GoogleServer {
    shared: Arc<GoogleServerShared>,
    address: SocketAddr,
}

struct GoogleServerShared {
    documents: documents::GoogleDocuments,
    state: Mutex<GoogleServerState>,
    is_over: AtomicBool,
}

/// What it knows.
struct GoogleServerState {
    calendar: calendar::FakeCalendars,
    tasks: tasks::FakeTaskLists,
    mail: mail::FakeMailbox,
    oauth: oauth::FakeTokens,
    /// `GET /calendar/v3/...` without queries, in their order.
    asked: Vec<String>,
    /// What did not follow the documents.
    violations: Vec<String>,
    /// Things that go wrong with requests that hold a text.
    troubles: VecDeque<(String, GoogleFailure)>,
    /// Most items on a page, whatever is asked for.
    page: usize,
}

/// What goes wrong with a request.
#[derive(Debug, Clone)]
pub enum GoogleFailure {
    /// Nothing is done, and this is the answer: status, headers, body.
    Answer(u16, Vec<(String, String)>, String),
    /// It is done, and the line is cut before an answer.
    Cut,
    /// Nothing is done, and nothing is said for so long.
    Silence(Duration),
}

impl GoogleFailure {
    /// An error as Google words them.
    pub fn error(status: u16, reason: &str, headers: &[(&str, &str)]) -> Self {
        let body = ServiceRefusal::new(status, reason, "as the test says").body();
        let owned = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Self::Answer(status, owned.collect(), body.to_string())
    }
}

impl GoogleServer {
    /// `None`: there is no port, or the documents are not there.
    pub fn start() -> Option<Self> {
        Self::on(0)
    }

    /// The same on a port of one's choice.
    pub fn on(port: u16) -> Option<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).ok()?;
        let address = listener.local_addr().ok()?;
        let state = GoogleServerState {
            calendar: calendar::FakeCalendars::new(),
            tasks: tasks::FakeTaskLists::new(),
            mail: mail::FakeMailbox::new(),
            oauth: oauth::FakeTokens::new(),
            asked: Vec::new(),
            violations: Vec::new(),
            troubles: VecDeque::new(),
            page: usize::MAX,
        };
        let documents = documents::GoogleDocuments::read()?;
        let is_over = AtomicBool::new(false);
        let shared = Arc::new(GoogleServerShared { documents, state: Mutex::new(state), is_over });
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if serving.is_over.load(Ordering::Relaxed) {
                    return;
                }
                let serving = Arc::clone(&serving);
                if let Ok(stream) = stream {
                    thread::spawn(move || serving.serve(stream));
                }
            }
        });
        Some(Self { shared, address })
    }

    /// What stands before each of its paths; that of the calendar is [`Self::calendar`].
    pub fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What stands before the paths of Calendar v3.
    pub fn calendar(&self) -> String {
        format!("http://{}/calendar/v3", self.address)
    }

    /// Where a person signs in: whoever goes there is let in.
    pub fn authorize(&self) -> String {
        format!("http://{}/authorize", self.address)
    }

    pub fn token(&self) -> String {
        format!("http://{}/token", self.address)
    }

    fn state(&self) -> MutexGuard<'_, GoogleServerState> {
        held(&self.shared.state)
    }

    /// The requests so far, as `GET /calendar/v3/users/me/calendarList`.
    pub fn asked(&self) -> Vec<String> {
        self.state().asked.clone()
    }

    /// What did not follow the documents; a test ends with this being empty.
    pub fn violations(&self) -> Vec<String> {
        self.state().violations.clone()
    }

    /// Lets the next request whose line (as in [`Self::asked`]) holds a text go wrong.
    pub fn trouble(&self, with: &str, trouble: GoogleFailure) {
        self.state().troubles.push_back((with.to_owned(), trouble));
    }

    /// Gives at most so many items on a page, whatever is asked for.
    pub fn small_pages(&self, items: usize) {
        self.state().page = items;
    }

    /// Accepts no access token any more that it gave so far.
    pub fn expire_access(&self) {
        self.state().oauth.expire();
    }

    /// Lets access tokens end after so many seconds.
    pub fn access_for(&self, seconds: u64) {
        self.state().oauth.life = seconds;
    }

    /// Accepts no refresh token any more that it gave so far.
    pub fn revoke(&self) {
        self.state().oauth.revoke();
    }

    /// Gives a new refresh token with each access token, and takes the old one back.
    pub fn rotate(&self) {
        self.state().oauth.rotates = true;
    }

    /// How many access tokens it has given.
    pub fn tokens_given(&self) -> usize {
        self.state().oauth.given
    }

    /// Puts an event into a calendar as somebody else's; its id.
    pub fn put_event(&self, calendar: &str, event: Value) -> String {
        self.state().calendar.put(calendar, event)
    }

    /// Adds a calendar with a role: `owner`, `writer`, `reader`.
    pub fn put_calendar(&self, id: &str, name: &str, role: &str) {
        self.state().calendar.open(id, name, role);
    }

    /// Who was told of what: `insert all ID`, for requests that tell guests.
    pub fn told_guests(&self) -> Vec<String> {
        self.state().calendar.told.clone()
    }

    /// A message arrives: its id.
    pub fn deliver(&self, raw: &str) -> String {
        self.state().mail.deliver(raw.replace('\n', "\r\n").as_bytes())
    }

    /// What was sent, as it was sent.
    pub fn sent(&self) -> Vec<String> {
        self.state().mail.sent.clone()
    }

    /// The labels of a message, by their ids.
    pub fn labels_of(&self, message: &str) -> Vec<String> {
        self.state().mail.labels_of(message)
    }
}

impl Drop for GoogleServer {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        // Wakes the listener.
        let _ = TcpStream::connect(self.address);
    }
}

impl GoogleServerShared {
    fn serve(&self, mut stream: TcpStream) {
        let Some(asked) = GoogleHttpRequest::read(&mut stream) else { return };
        let line = format!("{} {}", asked.method, asked.path);
        let trouble = {
            let mut state = held(&self.state);
            state.asked.push(line.clone());
            let place = state.troubles.iter().position(|(with, _)| line.contains(with.as_str()));
            place.and_then(|place| state.troubles.remove(place)).map(|(_, trouble)| trouble)
        };
        match trouble {
            Some(GoogleFailure::Answer(status, headers, body)) => {
                GoogleHttpResponse { status, headers, body: body.into_bytes() }.write(&mut stream);
            }
            Some(GoogleFailure::Silence(time)) => thread::sleep(time),
            Some(GoogleFailure::Cut) => drop(self.answer(&asked)),
            None => self.answer(&asked).write(&mut stream),
        }
    }

    fn answer(&self, asked: &GoogleHttpRequest) -> GoogleHttpResponse {
        let mut state = held(&self.state);
        match asked.path.as_str() {
            "/token" => return state.oauth.token(asked),
            "/authorize" => return state.oauth.authorize(asked),
            _ => {}
        }
        if !state.oauth.is_let_in(asked) {
            let refusal = ServiceRefusal::new(401, "authError", "Invalid Credentials");
            return GoogleHttpResponse::of(401, &refusal.body());
        }
        let found = match self.documents.check(asked) {
            Ok(found) => found,
            Err(violation) => {
                let violation = format!("{} {}: {violation}", asked.method, asked.path);
                state.violations.push(violation.clone());
                let refusal = ServiceRefusal::new(400, "violation", &violation);
                return GoogleHttpResponse::of(400, &refusal.body());
            }
        };
        let told = match state.perform(&found.operation, &found.request) {
            Ok(ServiceReply::Nothing) => {
                return GoogleHttpResponse { status: 204, headers: vec![], body: vec![] };
            }
            Ok(ServiceReply::Value(value)) => value,
            Err(refusal) => return GoogleHttpResponse::of(refusal.status, &refusal.body()),
        };
        if let Err(drift) = self.documents.check_answer(&found.operation, &told) {
            state.violations.push(format!("answer of {}: {drift}", found.operation));
        }
        let told = match found.request.query("fields") {
            Some(fields) => field_selection::select(&told, fields),
            None => told,
        };
        GoogleHttpResponse::of(200, &told)
    }
}

impl GoogleServerState {
    fn perform(
        &mut self,
        operation: &str,
        request: &reply::CheckedRequest,
    ) -> Result<ServiceReply, ServiceRefusal> {
        let page = self.page;
        let (api, name) = operation.split_once('.').unwrap_or_default();
        match api {
            "calendar" => self.calendar.perform(name, request, page),
            "tasks" => self.tasks.perform(name, request, page),
            "gmail" => self.mail.perform(name, request, page),
            _ => Err(ServiceRefusal::new(501, "notImplemented", "no such interface")),
        }
    }
}

/// A page of a list, as all three make them: `items` under a name, and what comes after.
fn page(
    name: &str,
    items: Vec<Value>,
    size: usize,
    request: &reply::CheckedRequest,
) -> Result<Value, ServiceRefusal> {
    let from = match request.query("pageToken") {
        None => 0_usize,
        Some(token) => {
            let from = token.strip_prefix("page-").and_then(|from| from.parse().ok());
            from.ok_or_else(|| ServiceRefusal::invalid("Invalid page token"))?
        }
    };
    let total = items.len();
    let items: Vec<Value> = items.into_iter().skip(from).take(size.max(1)).collect();
    let next = from + items.len();
    let mut page = json!({});
    put(&mut page, name, Value::Array(items));
    if next < total {
        put(&mut page, "nextPageToken", json!(format!("page-{next}")));
    }
    Ok(page)
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
