//! Connections of HTTP/1.1 that are driven by whoever uses them.
//!
//! The pool of the HTTP library gives each connection a task of its own, through which a request
//! passes on its way out and back. Where one exchange follows the other, as calls of a server do,
//! the two changes of task cost more than the exchange. Here a connection is asleep while nobody
//! uses it, and whoever takes it polls it beside what it waits for.

use std::collections::{HashMap, VecDeque};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::thread::{self, ThreadId};
use std::time::Duration;

use bytes::Bytes;
use foldhash::fast::RandomState;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1::{Connection, SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::origin::UrlOrigin;

/// How long a connection may sleep; servers close theirs after some time too.
const IDLE: Duration = Duration::from_mins(1);
/// Sleeping connections to one origin, a thread.
const MOST_IDLE: usize = 32;
/// How often those of all threads are looked through.
const LOOK: Duration = Duration::from_secs(1);

type Http1Request = Request<Full<Bytes>>;
type Http1Driver = Connection<TokioIo<TcpStream>, Full<Bytes>>;

/// Where connections sleep. Those of a thread are used again on that thread: its driver is the one
/// that wakes them.
#[derive(Default)]
pub(crate) struct Http1Pool(Mutex<IdleConnections>);

#[derive(Default)]
struct IdleConnections {
    /// Each thread's in the order in which they fell asleep.
    by_thread: HashMap<ThreadId, VecDeque<IdleConnection>, RandomState>,
    /// When those of all threads were looked through last.
    looked: Option<Instant>,
}

struct IdleConnection {
    origin: Arc<UrlOrigin>,
    lane: Http1Connection,
    since: Instant,
}

impl Http1Pool {
    fn asleep(&self) -> MutexGuard<'_, IdleConnections> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection to an origin that was used last, if one still seems to live.
    pub(crate) fn wake(&self, origin: &Arc<UrlOrigin>) -> Option<Http1Connection> {
        loop {
            let mut lane = self.take(origin)?;
            if lane.is_alive() {
                return Some(lane);
            }
        }
    }

    fn take(&self, origin: &Arc<UrlOrigin>) -> Option<Http1Connection> {
        let mut asleep = self.asleep();
        let mine = asleep.by_thread.get_mut(&thread::current().id())?;
        // What stands between may have forgotten one that slept too long, and say nothing.
        forget(mine, Instant::now());
        let found = mine.iter().rposition(|sleeper| sleeper.origin == *origin)?;
        mine.remove(found).map(|sleeper| sleeper.lane)
    }

    fn put(&self, origin: Arc<UrlOrigin>, lane: Http1Connection) {
        let now = Instant::now();
        let mut asleep = self.asleep();
        // Threads that are gone leave theirs behind.
        if asleep.looked.is_none_or(|looked| now.duration_since(looked) >= LOOK) {
            asleep.looked = Some(now);
            asleep.by_thread.retain(|_, sleepers| {
                forget(sleepers, now);
                !sleepers.is_empty()
            });
        }
        let mine = asleep.by_thread.entry(thread::current().id()).or_default();
        if mine.iter().filter(|sleeper| sleeper.origin == origin).count() < MOST_IDLE {
            mine.push_back(IdleConnection { origin, lane, since: now });
        }
    }
}

/// Lets go of those that have slept too long, which lie in front.
fn forget(sleepers: &mut VecDeque<IdleConnection>, now: Instant) {
    while sleepers.pop_front_if(|first| now.duration_since(first.since) >= IDLE).is_some() {}
}

/// One connection with what drives it.
pub(crate) struct Http1Connection {
    sender: SendRequest<Full<Bytes>>,
    /// `None`: it is over. On the heap, since it is large and the futures that hold it are moved.
    line: Option<Box<Http1Driver>>,
}

/// Why there is no answer.
pub(crate) enum Http1Failure {
    /// Nothing has left: it may go another way.
    Unsent(Box<Http1Request>, hyper::Error),
    Broken(hyper::Error),
}

impl Http1Connection {
    pub(crate) async fn open(stream: TokioIo<TcpStream>) -> Result<Self, hyper::Error> {
        let (sender, line) = handshake(stream).await?;
        Ok(Self { sender, line: Some(Box::new(line)) })
    }

    /// Whether the other side has not closed it meanwhile. Nobody is woken for it: the request that
    /// is sent next would wake whoever sends it, and everything around it would be polled again.
    fn is_alive(&mut self) -> bool {
        self.drive(&mut Context::from_waker(Waker::noop()));
        self.line.is_some() && self.sender.is_ready()
    }

    fn drive(&mut self, context: &mut Context<'_>) {
        if let Some(line) = &mut self.line
            && Pin::new(line).poll(context).is_ready()
        {
            // How it ended, its answer tells.
            self.line = None;
        }
    }

    /// Sends a request and waits for the head of its answer.
    pub(crate) async fn ask(
        &mut self,
        message: Http1Request,
    ) -> Result<Response<Incoming>, Http1Failure> {
        let Self { sender, line } = self;
        let mut answering = pin!(sender.try_send_request(message));
        let answered = poll_fn(|context| {
            if let Some(open) = line.as_mut()
                && Pin::new(open).poll(context).is_ready()
            {
                *line = None;
            }
            answering.as_mut().poll(context)
        });
        answered.await.map_err(|mut error| match error.take_message() {
            Some(message) => Http1Failure::Unsent(Box::new(message), error.into_error()),
            None => Http1Failure::Broken(error.into_error()),
        })
    }
}

/// The body of an answer on a connection that is driven with it, and sleeps when it is read.
pub(crate) struct Http1Body {
    incoming: Incoming,
    lane: Option<Http1Connection>,
    origin: Arc<UrlOrigin>,
    home: Weak<Http1Pool>,
}

impl Http1Body {
    pub(crate) fn new(
        incoming: Incoming,
        lane: Http1Connection,
        origin: &Arc<UrlOrigin>,
        home: &Arc<Http1Pool>,
    ) -> Self {
        let (origin, home) = (Arc::clone(origin), Arc::downgrade(home));
        let mut reading = Self { incoming, lane: Some(lane), origin, home };
        if reading.incoming.is_end_stream() {
            reading.sleep();
        }
        reading
    }

    /// The next bytes of the body; `None`: it was read to its end.
    pub(crate) fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, hyper::Error>>> {
        loop {
            // Most bodies came with their head, and need nobody to drive the connection.
            let mut next = Pin::new(&mut self.incoming).poll_frame(context);
            if next.is_pending()
                && let Some(lane) = &mut self.lane
            {
                lane.drive(context);
                next = Pin::new(&mut self.incoming).poll_frame(context);
            }
            match std::task::ready!(next) {
                Some(Ok(frame)) => {
                    // Trailers say nothing to us.
                    if let Ok(bytes) = frame.into_data() {
                        return Poll::Ready(Some(Ok(bytes)));
                    }
                }
                Some(Err(error)) => {
                    self.lane = None;
                    return Poll::Ready(Some(Err(error)));
                }
                None => {
                    if let Some(lane) = &mut self.lane {
                        // It has yet to see that its answer is over.
                        lane.drive(context);
                    }
                    self.sleep();
                    return Poll::Ready(None);
                }
            }
        }
    }

    fn sleep(&mut self) {
        if let (Some(lane), Some(home)) = (self.lane.take(), self.home.upgrade())
            && lane.line.is_some()
            && lane.sender.is_ready()
        {
            home.put(Arc::clone(&self.origin), lane);
        }
    }
}
