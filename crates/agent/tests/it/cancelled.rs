//! Runs that are given up while they go on.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolcrib_agent::model::ModelApi;
use toolcrib_agent::{Budget, RunPause, StopReason};
use toolcrib_testkit::{Oracle, ScriptedModel, ScriptedTurn, SeededRandom};

use crate::fixture::{agent, crib, run, scripted, settings};

#[tokio::test]
async fn after_a_cancelled_run_no_call_begins() {
    let oracle = Oracle::default();
    let slow = ScriptedTurn::Waits(
        Duration::from_millis(300),
        Box::new(ScriptedTurn::call("write", json!({ "n": 1 }))),
    );
    let model = Arc::new(scripted([slow]));
    let asked = Arc::clone(&model);
    let agent = agent(settings(&model, ModelApi::OpenAiChat), crib(&oracle), Budget::default());
    let mut run = run(&agent, "Write.");
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    tokio::spawn(async move {
        while asked.asked().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        stop.cancel();
    });
    let pause = run.go(&mut |_| {}, &cancel).await;
    assert!(matches!(pause, RunPause::Ended(end) if end.stop == StopReason::Cancelled));
    // Longer than the model takes for its answer, which comes over a socket, to nobody.
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert_eq!(oracle.runs(), []);
}

/// Runs at the same time.
const BESIDE: usize = 16;
const ROUNDS: usize = 20;
const SEED: u64 = 20_261_127;

/// Each writes three times in parallel, turn after turn, and is given up at a moment by chance.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whenever_a_run_is_cancelled_no_call_begins_after_its_end() {
    let mut random = SeededRandom::new(SEED);
    let model = ScriptedModel::by(|number, _| {
        let call = |n: usize| ("write".to_owned(), json!({ "n": 3 * number + n }));
        ScriptedTurn::Calls(String::new(), (0..3).map(call).collect())
    })
    .unwrap();
    let mut begun = 0;
    for _ in 0..ROUNDS {
        let together = (0..BESIDE).map(|_| {
            let oracle = Oracle::default();
            let settings = settings(&model, ModelApi::OpenAiChat);
            let agent = agent(settings, crib(&oracle), Budget::default());
            let after = Duration::from_micros(random.below(30_000));
            tokio::spawn(async move {
                let cancel = CancellationToken::new();
                let stop = cancel.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(after).await;
                    stop.cancel();
                });
                let pause = run(&agent, "Write.").go(&mut |_| {}, &cancel).await;
                let at_end = oracle.runs().len();
                assert!(matches!(pause, RunPause::Ended(end) if end.stop == StopReason::Cancelled));
                (oracle, at_end)
            })
        });
        let together: Vec<_> = together.collect();
        let mut ended = Vec::new();
        for one in together {
            ended.push(one.await.unwrap());
        }
        // Nothing is to happen, and nothing tells when: what was on its way has a moment.
        tokio::time::sleep(Duration::from_millis(5)).await;
        for (oracle, at_end) in ended {
            assert_eq!(oracle.runs().len(), at_end, "with the seed {SEED}");
            begun += at_end;
        }
    }
    // Some were given up in the middle of their work.
    assert!(begun > 0);
}
