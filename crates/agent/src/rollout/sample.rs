//! One sample on its way: a run with a deadline, which ends in any case.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use toolcrib_core::{BatchOptions, Caller};

use super::graph::MessageGraph;
use super::task::{RolloutTask, seed_of};
use super::trajectory::{TRAJECTORY_FORMAT, Trajectory, TrajectoryFault, TrajectoryTask};
use crate::agent::{AgentRun, RunOrder, RunPause};
use crate::model::{CallChoice, ModelFault, ModelFaultKind};
use crate::run::end::RunEnd;
use crate::stop::StopReason;
use crate::team::Agent;

/// How long a run that was told to end may take to do so.
const LAST_MOMENT: Duration = Duration::from_secs(10);

/// One sample of a task, before it begins.
pub struct Rollout {
    /// See [`RolloutTask::sample_id`].
    pub id: String,
    pub task: Arc<RolloutTask>,
    /// Its number among those of the task.
    pub sample: u32,
    /// For this sample alone: its model is seeded, its wishes and tools are those of the task.
    pub agent: Arc<Agent>,
    pub caller: Arc<Caller>,
    /// From its beginning to its end, with all that it waits for; `None`: as long as its budget
    /// lets it.
    pub deadline: Option<Duration>,
    /// Of one result that are told at the most; `None`: as the crib has it.
    pub result_tokens: Option<usize>,
}

/// How a sample ended.
enum SampleEnd {
    Run(RunEnd),
    Deadline,
}

impl Rollout {
    /// Runs it to its end. `None`: `cancel` came before that, and nothing is to be written of it.
    pub async fn run(self, cancel: &CancellationToken) -> Option<Trajectory> {
        let began = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let clock = Instant::now();
        let order = RunOrder {
            agent: Arc::clone(&self.agent),
            caller: Arc::clone(&self.caller),
            thread: self.task.thread.clone(),
            sources: Vec::new(),
            caller_tools: Vec::new(),
            choice: CallChoice::Free,
            waits_for_people: false,
        };
        let run = AgentRun::under_id(self.id.clone(), order).with_options(BatchOptions::default());
        let mut run = run.as_sample(self.result_tokens);
        let within = cancel.child_token();
        let end = self.end(&mut run, &within).await;
        if cancel.is_cancelled() {
            return None;
        }
        Some(self.trajectory(&mut run, &end, (began.as_secs_f64(), clock.elapsed())))
    }

    async fn end(&self, run: &mut AgentRun, within: &CancellationToken) -> SampleEnd {
        let mut silent = |_| {};
        let mut going = Box::pin(run.go(&mut silent, within));
        let late = sleep(self.deadline.unwrap_or(Duration::from_hours(24 * 365)));
        let pause = tokio::select! {
            biased;
            pause = &mut going => Some(pause),
            () = late => None,
            () = within.cancelled() => None,
        };
        match pause {
            Some(RunPause::Ended(end)) => SampleEnd::Run(end),
            // Nothing of it waits for people or for another process.
            Some(RunPause::Waiting(_) | RunPause::Held | RunPause::Deferred { .. }) => {
                SampleEnd::Run(RunEnd::of_fault(ModelFault {
                    kind: ModelFaultKind::Broken,
                    message: "the run waits for somebody, and nobody is there".to_owned(),
                    detail: None,
                    retry_after: None,
                }))
            }
            None => {
                within.cancel();
                // What has begun may end, and its end is on record.
                let _ = timeout(LAST_MOMENT, going).await;
                SampleEnd::Deadline
            }
        }
    }

    fn trajectory(
        self,
        run: &mut AgentRun,
        end: &SampleEnd,
        (began, took): (f64, Duration),
    ) -> Trajectory {
        let mut notes = run.take_notes();
        let mut graph = MessageGraph::default();
        let mut children = Vec::new();
        if let Some(notes) = &mut notes {
            graph = MessageGraph::of(&self.agent.instructions, run.items(), notes);
            children = graph.take_children(run.items(), notes);
        }
        let MessageGraph { nodes, branches, drift } = graph;
        let (stop, fault) = match end {
            SampleEnd::Run(end) => (end.stop.as_str(), end.fault.as_ref().map(told)),
            SampleEnd::Deadline => (DEADLINE, None),
        };
        let (_, calls, _, _) = run.account().totals();
        Trajectory {
            format: TRAJECTORY_FORMAT,
            seed: seed_of(&self.id),
            id: self.id,
            task: TrajectoryTask {
                id: self.task.id.clone(),
                line: self.task.line,
                data: self.task.data.clone(),
            },
            sample: self.sample,
            agent: self.agent.name.clone(),
            model: self.agent.model.settings().name.clone(),
            toolcrib: env!("CARGO_PKG_VERSION").to_owned(),
            tools: notes.map(|notes| notes.tools).unwrap_or_default(),
            nodes,
            branches,
            children,
            stop: stop.to_owned(),
            fault,
            drift,
            turns: run.turn(),
            calls,
            usage: run.usage(),
            began,
            took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            reward: None,
            metrics: serde_json::Map::new(),
            reward_fault: None,
        }
    }
}

/// The reason of a trajectory that took too long.
const DEADLINE: &str = "deadline";

fn told(fault: &ModelFault) -> TrajectoryFault {
    TrajectoryFault {
        kind: fault.kind.as_str().to_owned(),
        message: fault.message.clone(),
        detail: fault.detail.clone(),
    }
}

impl Trajectory {
    /// Whether it ended because its model gave no answer: there is nothing in it to learn from.
    pub fn is_faulty(&self) -> bool {
        self.stop == StopReason::Fault.as_str()
    }
}
