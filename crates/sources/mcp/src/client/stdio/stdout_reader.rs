//! Where the output of a child is read.
//!
//! An answer wakes whoever reads the pipe, and that one wakes whoever waits for the call: two
//! threads, each of which may take as long to wake as all that we do with the call. Where calls
//! come one after the other from one thread that is there for that
//! ([`enable_local_stdout_reader`](super::local_reader::enable_local_stdout_reader)), it reads the pipe too. Where several are under way at once,
//! one thread would hold up the others, and the pipe is read where it was opened.

use std::collections::VecDeque;
use std::io;
use std::os::fd::AsFd as _;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use rmcp::model::ServerJsonRpcMessage;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::unix::pipe::Receiver;
use tokio::process::ChildStdout;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::client::inflight::InFlight;
use crate::client::inflight::fast_result::FastCompletion;
use crate::protocol::frame::{self, MessageOutline};
use crate::protocol::lines::{BoundedLine, BoundedLines};

/// After so many calls in a row that would have been answered better elsewhere, the reader moves.
const ENOUGH: u32 = 16;
/// Messages that the SDK has not taken yet.
const BACKLOG: usize = 64;

/// A message that the SDK has to see. A channel has room for many from the start on.
type SdkMessage = Box<ServerJsonRpcMessage>;

/// Reads at the runtime of whoever asks for it, and then where it is best, until the child closes
/// its output.
pub(super) fn read(
    output: ChildStdout,
    calls: Arc<InFlight>,
) -> io::Result<mpsc::Receiver<SdkMessage>> {
    let output = Receiver::from_owned_fd(output.into_owned_fd()?)?;
    let (came, coming) = mpsc::channel(BACKLOG);
    let home = Handle::current();
    let (lines, owed) =
        (BoundedLines::new(ChildOutput(output), calls.bounds.message), VecDeque::new());
    let (at, drift) = (home.clone(), StdoutReaderDrift::No);
    let reader = StdoutReader { lines, calls, came, owed, home, at, drift };
    reader.sit();
    Ok(coming)
}

struct StdoutReader {
    lines: BoundedLines<ChildOutput>,
    calls: Arc<InFlight>,
    came: mpsc::Sender<SdkMessage>,
    /// What came and was not handed on.
    owed: VecDeque<SdkMessage>,
    /// Where it was opened.
    home: Handle,
    /// Where it is read.
    at: Handle,
    drift: StdoutReaderDrift,
}

/// Where the last calls would have been answered better, and how many of them.
enum StdoutReaderDrift {
    No,
    To(Handle, u32),
}

/// The output at the driver of one runtime.
struct ChildOutput(Receiver);

impl AsyncRead for ChildOutput {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl ChildOutput {
    /// Goes over to the driver of another runtime; `false`: that one is ending, and it stays.
    fn moves(&mut self, to: &Handle) -> bool {
        let Ok(twin) = self.0.as_fd().try_clone_to_owned() else { return false };
        let _inside = to.enter();
        let moved = Receiver::from_owned_fd_unchecked(twin);
        moved.map(|moved| self.0 = moved).is_ok()
    }
}

impl StdoutReader {
    fn sit(self) {
        let at = self.at.clone();
        let mut seated = StdoutReaderTask(Some(self));
        at.spawn(async move { seated.read().await });
    }

    /// Where it cannot go, it stays.
    fn moves(mut self, to: Handle) -> Option<Self> {
        self.drift = StdoutReaderDrift::No;
        if !self.lines.source().moves(&to) {
            return Some(self);
        }
        self.at = to;
        self.sit();
        None
    }

    /// Hands on what came, and reads one more line; `false`: that was the last, or nobody wants any
    /// more. Dropping it loses nothing.
    async fn next(&mut self) -> bool {
        while !self.owed.is_empty() {
            let Ok(place) = self.came.reserve().await else { return false };
            if let Some(came) = self.owed.pop_front() {
                place.send(came);
            }
        }
        let line = match self.lines.next().await {
            BoundedLine::Whole(line) => line,
            BoundedLine::TooLong(outline) => {
                let told = self.calls.spoiled(frame::TOO_LARGE, outline, None);
                self.owed.extend(told.map(Box::new));
                return true;
            }
            BoundedLine::End => return false,
        };
        if let Some(ended) = self.calls.take_usual(line, None) {
            self.drift = self.drift.with(ended, &self.at, &self.home);
            return true;
        }
        let message = match self.calls.read(line) {
            Ok(message) => message,
            // What is no message is not answered: an echo would make a storm of it.
            Err(unreadable) => {
                let outline = MessageOutline::of(line);
                let told = self.calls.spoiled(unreadable.words(), &outline, None);
                self.owed.extend(told.map(Box::new));
                return true;
            }
        };
        for message in frame::each(message) {
            self.owed.extend(self.calls.hear(message, None).map(Box::new));
        }
        true
    }
}

impl StdoutReaderDrift {
    fn with(&mut self, ended: FastCompletion, at: &Handle, home: &Handle) -> Self {
        let better = ended.asker.filter(|_| ended.was_alone);
        let better = better.as_ref().unwrap_or(home);
        if better.id() == at.id() {
            return Self::No;
        }
        match self {
            Self::To(to, calls) if to.id() == better.id() => Self::To(to.clone(), *calls + 1),
            Self::To(..) | Self::No => Self::To(better.clone(), 1),
        }
    }
}

/// A reader at its runtime. If that one ends, it goes on at home.
struct StdoutReaderTask(Option<StdoutReader>);

impl StdoutReaderTask {
    async fn read(&mut self) {
        let Some(came) = self.0.as_ref().map(|reader| reader.came.clone()) else { return };
        let mut closed = pin!(came.closed());
        while let Some(reader) = &mut self.0 {
            let goes_on = tokio::select! {
                biased;
                goes_on = reader.next() => goes_on,
                () = &mut closed => false,
            };
            if !goes_on {
                self.0 = None;
            } else if let StdoutReaderDrift::To(to, ENOUGH..) = &reader.drift {
                let to = to.clone();
                self.0 = self.0.take().and_then(|reader| reader.moves(to));
            }
        }
    }
}

impl Drop for StdoutReaderTask {
    fn drop(&mut self) {
        if let Some(reader) = self.0.take().filter(|reader| reader.at.id() != reader.home.id()) {
            let home = reader.home.clone();
            // Where home has ended too, the connection has.
            drop(reader.moves(home));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::fd::OwnedFd;
    use std::time::Duration;

    use rmcp::model::RequestId;
    use tokio::runtime::{Builder, Runtime};
    use tokio::time::{sleep, timeout};

    use super::*;
    use crate::client::call::reply::ServerReply;
    use crate::client::inflight::{ServerNotices, UpstreamRequest, UpstreamRequestEnd};
    use crate::client::settings::McpBounds;
    use crate::client::stdio::local_reader::enable_local_stdout_reader;

    /// A child that answers whatever it is told to, and who calls it.
    struct Line {
        calls: Arc<InFlight>,
        child: io::PipeWriter,
        count: i64,
    }

    impl Line {
        fn open() -> (Self, mpsc::Receiver<SdkMessage>) {
            let (output, child) = io::pipe().unwrap();
            let output = std::process::ChildStdout::from(OwnedFd::from(output));
            let calls = InFlight::new(
                &Arc::<ServerNotices>::default(),
                McpBounds::default(),
                &Arc::default(),
            );
            let output = ChildStdout::from_std(output).unwrap();
            let coming = read(output, Arc::clone(&calls)).unwrap();
            (Self { calls, child, count: 0 }, coming)
        }

        /// A call that waits for its answer.
        fn begin(&mut self) -> (i64, tokio::sync::oneshot::Receiver<UpstreamRequestEnd>) {
            self.count += 1;
            let (slot, end) = UpstreamRequest::direct(None);
            self.calls.sends(RequestId::Number(self.count), &Arc::new(slot.of_call(true)));
            (self.count, end)
        }

        async fn call(&mut self) {
            let waits = self.begin();
            self.end(waits).await;
        }

        async fn end(
            &mut self,
            (id, end): (i64, tokio::sync::oneshot::Receiver<UpstreamRequestEnd>),
        ) {
            let text = r#"{"content":[{"type":"text","text":"hi"}]}"#;
            writeln!(self.child, r#"{{"jsonrpc":"2.0","id":{id},"result":{text}}}"#).unwrap();
            let end = timeout(Duration::from_secs(10), end).await.expect("it is read").unwrap();
            assert!(matches!(end, UpstreamRequestEnd::Result(ServerReply::Usual(_))));
        }

        async fn calls(&mut self, count: u32) {
            for _ in 0..count {
                self.call().await;
            }
        }
    }

    fn one_thread() -> Runtime {
        enable_local_stdout_reader();
        Builder::new_current_thread().enable_all().build().unwrap()
    }

    /// Whether the reader comes to sit at a runtime that has no other tasks, or leaves it.
    async fn comes_to(at: &Runtime, tasks: usize) {
        let metrics = at.metrics();
        for _ in 0..1_000 {
            if metrics.num_alive_tasks() == tasks {
                return;
            }
            sleep(Duration::from_millis(1)).await;
        }
        panic!("{} tasks, and {tasks} expected", metrics.num_alive_tasks());
    }

    #[test]
    fn the_output_is_read_where_single_calls_come_from_and_at_home_where_there_are_several() {
        let home = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (mut line, coming) = home.block_on(async { Line::open() });
        let one = one_thread();
        one.block_on(async {
            line.calls(ENOUGH - 1).await;
            comes_to(&one, 0).await;
            line.calls(3).await;
            comes_to(&one, 1).await;
        });
        one.block_on(async {
            let waits = line.begin();
            line.calls(ENOUGH).await;
            comes_to(&one, 0).await;
            drop(waits);
            line.calls(2).await;
        });
        drop(coming);
    }

    #[test]
    fn a_runtime_that_nobody_may_drive_reads_nothing() {
        let home = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (mut line, coming) = home.block_on(async { Line::open() });
        let one = Builder::new_current_thread().enable_time().build().unwrap();
        one.block_on(async {
            line.calls(ENOUGH * 2).await;
            comes_to(&one, 0).await;
        });
        home.block_on(line.calls(1));
        drop(coming);
    }

    #[test]
    fn a_runtime_that_ends_takes_no_output_with_it() {
        let home = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (mut line, coming) = home.block_on(async { Line::open() });
        let one = one_thread();
        one.block_on(async {
            line.calls(ENOUGH).await;
            comes_to(&one, 1).await;
        });
        // It had half of a line.
        let half = r#"{"jsonrpc":"2.0","id":"#;
        write!(line.child, "{half}").unwrap();
        one.block_on(async { sleep(Duration::from_millis(20)).await });
        drop(one);
        let (id, end) = line.begin();
        writeln!(line.child, r#"{id},"result":{{"content":[]}}}}"#).unwrap();
        let waited = home.block_on(async { timeout(Duration::from_secs(10), end).await });
        let end = waited.expect("it is read");
        assert!(matches!(end, Ok(UpstreamRequestEnd::Result(ServerReply::Usual(_)))));
        home.block_on(line.calls(2));
        drop(coming);
    }

    #[test]
    fn a_runtime_that_is_over_is_not_moved_to() {
        let home = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (mut line, coming) = home.block_on(async { Line::open() });
        let one = one_thread();
        let last = one.block_on(async {
            line.calls(ENOUGH - 1).await;
            line.begin()
        });
        drop(one);
        home.block_on(async {
            line.end(last).await;
            line.calls(2).await;
        });
        drop(coming);
    }

    #[test]
    fn the_output_is_let_go_of_with_its_connection() {
        let home = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (mut line, coming) = home.block_on(async { Line::open() });
        drop(coming);
        home.block_on(comes_to(&home, 0));
        let told = writeln!(line.child, "{{}}").map_err(|error| error.kind());
        assert_eq!(told, Err(io::ErrorKind::BrokenPipe));
    }
}
