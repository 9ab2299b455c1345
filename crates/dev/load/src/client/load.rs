//! Many clients, each with one call on its way.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::session::{ClientEra, LoadCall, LoadSession, LoadTarget};
use crate::program::MeasuredProgram;
use crate::{LoadError, LoadFigures};

/// How hard a server is asked.
#[derive(Debug, Clone, Copy)]
pub struct LoadSettings {
    pub sessions: usize,
    pub lasts: Duration,
    pub era: ClientEra,
}

/// In how many turns each way is measured: a shared machine is faster and slower for seconds, and
/// what it is in one turn should meet all ways alike.
const TURNS: u32 = 9;

/// How much is measured of each way.
#[derive(Debug, Clone)]
pub struct MeasureSettings {
    /// All rounds of one way at one number of sessions together.
    pub lasts: Duration,
    pub rounds: u32,
    pub sessions: Vec<usize>,
}

impl MeasureSettings {
    pub fn of(lasts: Duration) -> Self {
        Self { lasts, rounds: TURNS, sessions: vec![1, 16, 64] }
    }

    pub(crate) fn load(&self, sessions: usize, era: ClientEra) -> LoadSettings {
        LoadSettings { sessions, lasts: self.lasts / self.rounds.max(1), era }
    }
}

/// Asks without pauses. What a client does before its first call is not measured.
pub async fn run(
    target: &LoadTarget,
    ask: &LoadCall,
    load: LoadSettings,
    measured: &MeasuredProgram,
) -> Result<LoadFigures, LoadError> {
    let mut sessions = Vec::new();
    for _ in 0..load.sessions {
        let mut session = LoadSession::open(target, load.era).await?;
        session.call(ask).await?;
        sessions.push(session);
    }
    let before = measured.worked();
    let begun = Instant::now();
    let until = begun + load.lasts;
    let mut clients = JoinSet::new();
    for session in sessions {
        clients.spawn(calls(session, ask.clone(), until));
    }
    let (mut figures, mut sessions) = (LoadFigures::default(), Vec::new());
    while let Some(ended) = clients.join_next().await {
        let (called, session) = ended?;
        figures.add(called);
        sessions.extend(session);
    }
    let worked = measured.worked().saturating_sub(before);
    figures.add(LoadFigures::new(Vec::new(), begun.elapsed()).with_cost(worked, measured.rss()));
    // Those of a turn should not stand in the way of the next ones.
    for session in sessions {
        session.end().await?;
    }
    Ok(figures)
}

/// With the session, if it can still be used.
async fn calls(
    mut session: LoadSession,
    ask: LoadCall,
    until: Instant,
) -> (LoadFigures, Option<LoadSession>) {
    let mut times = Vec::new();
    let mut begun = Instant::now();
    while begun < until {
        let called = session.call(&ask).await;
        let now = Instant::now();
        if let Err(error) = called {
            // What a connection is after an error, nobody knows.
            let mut figures = LoadFigures::new(times, Duration::ZERO);
            figures.fail(&error);
            return (figures, None);
        }
        times.push(now - begun);
        begun = now;
    }
    (LoadFigures::new(times, Duration::ZERO), Some(session))
}
