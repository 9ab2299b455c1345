//! The loop that batched rollouts have: a turn of all, then the tools of all, and nobody goes on
//! before the slowest has answered. It does at once what can be done at once (twinkle's
//! `MultiTurnRollout` calls the tools of all one after the other), and has no cost of its own: texts
//! that were put together by hand.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::service::RolloutService;
use super::settings::RolloutSettings;
use crate::LoadError;
use crate::client::connection::ClientConnection;

/// One trajectory between two turns.
struct BarrierRun {
    line: ClientConnection,
    task: usize,
    messages: String,
}

/// How long all of them take.
pub(super) async fn all_wait_for_the_slowest(
    service: &RolloutService,
    much: RolloutSettings,
) -> Result<Duration, LoadError> {
    let mut runs = Vec::with_capacity(much.trajectories);
    for task in 0..much.trajectories {
        let line = ClientConnection::open(&service.address).await?;
        let messages = format!(r#"{{"role":"user","content":"task:{task};"}}"#);
        runs.push(BarrierRun { line, task, messages });
    }
    let begun = Instant::now();
    for turn in 0..much.turns {
        let is_last = turn + 1 == much.turns;
        runs = at_once(runs, move |run| run.ask(turn)).await?;
        if !is_last {
            let work = service.work;
            runs = at_once(runs, move |run| {
                let millis = work.tool(run.task, turn).as_millis();
                run.call(turn, millis)
            })
            .await?;
        }
    }
    Ok(begun.elapsed())
}

async fn at_once<F>(
    runs: Vec<BarrierRun>,
    work: impl Fn(BarrierRun) -> F,
) -> Result<Vec<BarrierRun>, LoadError>
where
    F: Future<Output = Result<BarrierRun, LoadError>> + Send + 'static,
{
    let mut working = JoinSet::new();
    for run in runs {
        working.spawn(work(run));
    }
    let mut done = Vec::new();
    while let Some(run) = working.join_next().await {
        done.push(run??);
    }
    Ok(done)
}

impl BarrierRun {
    async fn ask(mut self, turn: usize) -> Result<Self, LoadError> {
        let body = format!(r#"{{"model":"load","messages":[{}]}}"#, self.messages);
        let head = "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n";
        self.exchange(&format!("{head}Content-Length: {}\r\n\r\n{body}", body.len())).await?;
        // A string takes whatever is written.
        let _ = write!(self.messages, r#",{{"role":"assistant","content":"{turn}"}}"#);
        Ok(self)
    }

    async fn call(mut self, turn: usize, millis: u128) -> Result<Self, LoadError> {
        self.exchange(&format!("GET /wait/{millis} HTTP/1.1\r\nHost: x\r\n\r\n")).await?;
        let _ = write!(
            self.messages,
            r#",{{"role":"tool","tool_call_id":"call_{turn}","content":"waited"}}"#
        );
        Ok(self)
    }

    async fn exchange(&mut self, request: &str) -> Result<(), LoadError> {
        let reply = self.line.ask(request.as_bytes()).await?;
        if reply.status == 200 { Ok(()) } else { Err("the service refuses".into()) }
    }
}
