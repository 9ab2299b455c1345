//! What every ledger does with runs, whatever it writes to: one suite, run over each form.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use toolcrib_core::{
    Caller, MOST_NOTES, NewRun, RunLedger, RunLedgerError, RunStage, RunStep, RunSummary,
    StoredRun, TicketId,
};

pub(crate) fn ann() -> Caller {
    Caller::new("acme", "ann").with_scopes(["pay", "read"])
}

fn ben() -> Caller {
    Caller::new("acme", "ben")
}

/// A run of Ann's.
pub(crate) fn new_run(id: &str, thread: &str) -> NewRun {
    NewRun {
        id: id.to_owned(),
        caller: ann(),
        thread: thread.to_owned(),
        previous: None,
        parent: None,
        agent: "helper".to_owned(),
        profile: None,
        request: "{}".to_owned(),
    }
}

/// A step that changes nothing.
pub(crate) fn run_step(number: u64) -> RunStep {
    RunStep {
        number,
        stage: RunStage::Running,
        tickets: Vec::new(),
        state: "{}".to_owned(),
        items_from: 0,
        items: Vec::new(),
        events: Vec::new(),
    }
}

pub(crate) fn last_step(number: u64) -> RunStep {
    RunStep { stage: RunStage::Ended, ..run_step(number) }
}

pub(crate) fn texts<const COUNT: usize>(texts: [&str; COUNT]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}

async fn begin(runs: &dyn RunLedger, id: &str, thread: &str) {
    runs.create(new_run(id, thread), run_step(0)).await.unwrap();
}

async fn loaded(runs: &dyn RunLedger, id: &str) -> StoredRun {
    runs.load(id).await.unwrap().unwrap()
}

fn ids(runs: &[RunSummary]) -> Vec<&str> {
    runs.iter().map(|run| &*run.id).collect()
}

fn busy(run: &str) -> Result<(), RunLedgerError> {
    Err(RunLedgerError::Busy { run: run.to_owned() })
}

#[tokio::test]
async fn a_run_is_begun_carried_on_and_loaded_whole() {
    let runs = crate::runs();
    // Nobody reads these as JSON: they come back as they are written.
    let odd = r#"{"x": 0.1000000000000000055511151231257827, "y":1e400,  "z":-0.0}"#;
    let run = NewRun {
        previous: Some("before".to_owned()),
        parent: Some("above".to_owned()),
        profile: Some("careful".to_owned()),
        request: odd.to_owned(),
        ..new_run("run", "thread")
    };
    let first = RunStep {
        items: texts([odd, "\"b\"", odd]),
        events: texts(["0", "1"]),
        state: odd.to_owned(),
        ..run_step(0)
    };
    let earlier = SystemTime::now() - Duration::from_secs(1);
    runs.create(run, first).await.unwrap();
    let begun = loaded(&*runs, "run").await;
    assert_eq!((begun.steps, begun.events, &*begun.state), (1, 2, odd));
    assert_eq!((&*begun.request, begun.items), (odd, texts([odd, "\"b\"", odd])));
    let second = RunStep {
        stage: RunStage::Waiting,
        tickets: vec![TicketId::claimed("t_1"), TicketId::claimed("t_2")],
        items_from: 3,
        items: texts(["\"c\""]),
        events: texts(["2"]),
        state: "[]".to_owned(),
        ..run_step(1)
    };
    runs.advance("run", second).await.unwrap();
    let stored = loaded(&*runs, "run").await;
    let RunSummary { number, created, changed, .. } = stored.summary;
    assert!(earlier < created && created <= changed);
    let summary = RunSummary {
        number,
        id: "run".to_owned(),
        caller: ann(),
        thread: "thread".to_owned(),
        previous: Some("before".to_owned()),
        parent: Some("above".to_owned()),
        agent: "helper".to_owned(),
        profile: Some("careful".to_owned()),
        stage: RunStage::Waiting,
        tickets: vec![TicketId::claimed("t_1"), TicketId::claimed("t_2")],
        created,
        changed,
    };
    assert_eq!(
        stored,
        StoredRun {
            summary: summary.clone(),
            request: odd.to_owned(),
            state: "[]".to_owned(),
            steps: 2,
            items: texts([odd, "\"b\"", odd, "\"c\""]),
            events: 3,
        }
    );
    assert_eq!(runs.list(&ann(), None, 9).await.unwrap(), [summary]);
    assert_eq!(runs.load("another").await.unwrap(), None);
}

#[tokio::test]
async fn a_thread_has_one_run_at_a_time_that_has_not_ended() {
    let runs = crate::runs();
    begin(&*runs, "first", "thread").await;
    assert_eq!(runs.create(new_run("second", "thread"), run_step(0)).await, busy("first"));
    assert_eq!(runs.load("second").await.unwrap(), None);
    let waits = RunStep { stage: RunStage::Waiting, ..run_step(1) };
    runs.advance("first", waits).await.unwrap();
    assert_eq!(runs.create(new_run("second", "thread"), run_step(0)).await, busy("first"));
    begin(&*runs, "other", "other thread").await;
    for caller in [ben(), Caller::new("other", "ann")] {
        let id = format!("of {} at {}", caller.subject, caller.tenant);
        let theirs = NewRun { caller, ..new_run(&id, "thread") };
        runs.create(theirs, run_step(0)).await.unwrap();
    }
    runs.advance("first", last_step(2)).await.unwrap();
    begin(&*runs, "second", "thread").await;
    assert_eq!(runs.create(new_run("third", "thread"), run_step(0)).await, busy("second"));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_who_begin_a_run_of_one_thread_at_once_one_does() {
    let runs = crate::runs();
    let writing = (0..16).map(|writer: u32| {
        let runs = Arc::clone(&runs);
        let run = new_run(&writer.to_string(), "thread");
        tokio::spawn(async move { runs.create(run, run_step(0)).await })
    });
    let mut begun = 0;
    for written in writing.collect::<Vec<_>>() {
        match written.await.unwrap() {
            Ok(()) => begun += 1,
            refused => assert!(matches!(refused, Err(RunLedgerError::Busy { .. }))),
        }
    }
    assert_eq!((begun, runs.unfinished().await.unwrap().len()), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_who_write_one_step_at_once_one_does() {
    let runs = crate::runs();
    begin(&*runs, "run", "thread").await;
    for number in 1..5 {
        let writing = (0..16).map(|writer: u32| {
            let runs = Arc::clone(&runs);
            let item = writer.to_string();
            let events = vec![item.clone()];
            let step = RunStep { items: vec![item], events, ..run_step(number) };
            tokio::spawn(async move { (writer, runs.advance("run", step).await) })
        });
        let mut winners = Vec::new();
        for written in writing.collect::<Vec<_>>() {
            match written.await.unwrap() {
                (writer, Ok(())) => winners.push(writer.to_string()),
                (_, refused) => assert_eq!(refused, Err(RunLedgerError::Moved)),
            }
        }
        assert_eq!(winners.len(), 1);
        let stored = loaded(&*runs, "run").await;
        assert_eq!((stored.steps, stored.events), (number + 1, number));
        assert_eq!(stored.items, winners);
    }
}

#[tokio::test]
async fn a_step_that_does_not_follow_is_refused_and_so_is_each_of_an_ended_run() {
    let runs = crate::runs();
    let moved = Err(RunLedgerError::Moved);
    assert_eq!(runs.create(new_run("run", "thread"), run_step(1)).await, moved);
    assert_eq!(runs.advance("run", run_step(0)).await, moved);
    begin(&*runs, "run", "thread").await;
    for number in [0, 2, u64::MAX] {
        assert_eq!(runs.advance("run", run_step(number)).await, moved);
    }
    let gap = RunStep { items_from: 1, items: texts(["1"]), ..run_step(1) };
    let refused = runs.advance("run", gap).await;
    assert!(matches!(refused, Err(RunLedgerError::Ledger(_))), "{refused:?}");
    runs.advance("run", last_step(1)).await.unwrap();
    let before = loaded(&*runs, "run").await;
    for number in [1, 2, 3] {
        let step = RunStep { items: texts(["1"]), events: texts(["1"]), ..run_step(number) };
        assert_eq!(runs.advance("run", step).await, moved);
        assert_eq!(runs.advance("run", last_step(number)).await, moved);
    }
    assert_eq!(loaded(&*runs, "run").await, before);
    // Its name is taken, also when its thread is free.
    let again = runs.create(new_run("run", "thread"), run_step(0)).await;
    assert!(matches!(again, Err(RunLedgerError::Ledger(_))), "{again:?}");
    assert_eq!(loaded(&*runs, "run").await, before);
}

#[tokio::test]
async fn items_are_replaced_from_a_place_on() {
    let runs = crate::runs();
    let first = RunStep { items: texts(["a", "b", "c", "b"]), ..run_step(0) };
    runs.create(new_run("run", "thread"), first).await.unwrap();
    let changes = [
        (4, texts(["d"]), texts(["a", "b", "c", "b", "d"])),
        (1, texts(["c", "b"]), texts(["a", "c", "b"])),
        (3, texts([]), texts(["a", "c", "b"])),
        (2, texts([]), texts(["a", "c"])),
        (0, texts(["c", "a", "a"]), texts(["c", "a", "a"])),
        (0, texts([]), texts([])),
        (0, texts(["a"]), texts(["a"])),
    ];
    for (number, (items_from, items, after)) in (1..).zip(changes) {
        runs.advance("run", RunStep { items_from, items, ..run_step(number) }).await.unwrap();
        assert_eq!(loaded(&*runs, "run").await.items, after);
    }
}

#[tokio::test]
async fn what_one_run_takes_out_stays_in_another() {
    let runs = crate::runs();
    for (id, caller) in [("1", ann()), ("2", ben()), ("3", Caller::new("other", "ann"))] {
        let run = NewRun { caller, ..new_run(id, "thread") };
        let first = RunStep { items: texts(["a", "b"]), ..run_step(0) };
        runs.create(run, first).await.unwrap();
    }
    let without = RunStep { items_from: 1, ..run_step(1) };
    runs.advance("1", without).await.unwrap();
    let ended = RunStep { items_from: 2, ..last_step(1) };
    runs.advance("2", ended).await.unwrap();
    assert!(runs.forget(&ben(), "2").await.unwrap());
    assert_eq!(loaded(&*runs, "1").await.items, texts(["a"]));
    assert_eq!(loaded(&*runs, "3").await.items, texts(["a", "b"]));
    let again = RunStep { items_from: 1, items: texts(["b"]), ..run_step(2) };
    runs.advance("1", again).await.unwrap();
    assert_eq!(loaded(&*runs, "1").await.items, texts(["a", "b"]));
}

#[tokio::test]
async fn events_are_read_in_pages() {
    let runs = crate::runs();
    let first = RunStep { events: texts(["0", "1", "2"]), ..run_step(0) };
    runs.create(new_run("run", "thread"), first).await.unwrap();
    let other = RunStep { events: texts(["x"]), ..run_step(0) };
    runs.create(new_run("other", "other"), other).await.unwrap();
    let second = RunStep { events: texts(["3", "4"]), ..run_step(1) };
    runs.advance("run", second).await.unwrap();
    let pages = [
        ((0, 2), texts(["0", "1"])),
        ((2, 2), texts(["2", "3"])),
        ((4, 2), texts(["4"])),
        ((5, 2), texts([])),
        ((u64::MAX, 2), texts([])),
        ((1, usize::MAX), texts(["1", "2", "3", "4"])),
        ((0, 0), texts([])),
    ];
    for ((from, limit), page) in pages {
        assert_eq!(runs.events("run", from, limit).await.unwrap(), page);
    }
    assert_eq!(runs.events("nobody", 0, 9).await.unwrap(), texts([]));
}

#[tokio::test]
async fn runs_are_listed_of_a_caller_of_a_thread_and_of_all_that_have_not_ended() {
    let runs = crate::runs();
    for (id, thread) in [("1", "a"), ("2", "b"), ("3", "a"), ("4", "a")] {
        begin(&*runs, id, thread).await;
        let stays_open = ["2", "4"].contains(&id);
        if !stays_open {
            runs.advance(id, last_step(1)).await.unwrap();
        }
        let of_ben = NewRun { caller: ben(), ..new_run(&format!("{id} of ben"), id) };
        runs.create(of_ben, last_step(0)).await.unwrap();
    }
    let of_ben = NewRun { caller: ben(), ..new_run("5 of ben", "a") };
    let waits = RunStep { stage: RunStage::Waiting, ..run_step(0) };
    runs.create(of_ben, waits).await.unwrap();
    let first = runs.list(&ann(), None, 3).await.unwrap();
    assert_eq!(ids(&first), ["4", "3", "2"]);
    let rest = runs.list(&ann(), Some(first[2].number), 3).await.unwrap();
    assert_eq!(ids(&rest), ["1"]);
    assert_eq!(runs.list(&ann(), Some(rest[0].number), 3).await.unwrap(), []);
    assert_eq!(ids(&runs.thread(&ann(), "a").await.unwrap()), ["1", "3", "4"]);
    assert_eq!(ids(&runs.thread(&ben(), "a").await.unwrap()), ["5 of ben"]);
    assert_eq!(runs.thread(&ann(), "c").await.unwrap(), []);
    let open = runs.unfinished().await.unwrap();
    assert_eq!(ids(&open), ["2", "4", "5 of ben"]);
    assert_eq!((open[2].stage, &open[2].caller), (RunStage::Waiting, &ben()));
    // Scopes may have changed since.
    let other_scopes = Caller::new("acme", "ann");
    assert_eq!(runs.list(&other_scopes, None, 9).await.unwrap().len(), 4);
}

#[tokio::test]
async fn a_run_is_forgotten_once_it_has_ended_and_by_its_caller_alone() {
    let runs = crate::runs();
    let first = RunStep { items: texts(["a"]), events: texts(["0"]), ..run_step(0) };
    runs.create(new_run("run", "thread"), first).await.unwrap();
    assert_eq!(runs.forget(&ann(), "run").await, Ok(false));
    let number = loaded(&*runs, "run").await.summary.number;
    runs.advance("run", last_step(1)).await.unwrap();
    assert_eq!(runs.forget(&ben(), "run").await, Ok(false));
    assert_eq!(loaded(&*runs, "run").await.steps, 2);
    assert_eq!(runs.forget(&ann(), "run").await, Ok(true));
    assert_eq!(runs.forget(&ann(), "run").await, Ok(false));
    assert_eq!(runs.load("run").await, Ok(None));
    assert_eq!(runs.events("run", 0, 9).await.unwrap(), texts([]));
    assert_eq!(runs.list(&ann(), None, 9).await.unwrap(), []);
    assert_eq!(runs.advance("run", run_step(2)).await, Err(RunLedgerError::Moved));
    // Another of that name is another run, with a higher number.
    begin(&*runs, "run", "thread").await;
    let another = loaded(&*runs, "run").await;
    assert!(another.summary.number > number);
    assert_eq!((another.items, another.events), (texts([]), 0));
}

#[tokio::test]
async fn a_run_is_forgotten_with_those_that_worked_for_it_and_no_others() {
    let runs = crate::runs();
    let below =
        |id: &str, parent: &str| NewRun { parent: Some(parent.to_owned()), ..new_run(id, id) };
    let all = [
        new_run("boss", "a"),
        below("boss.1.0", "boss"),
        below("boss.1.0.1.0", "boss.1.0"),
        new_run("other", "b"),
        below("other.1.0", "other"),
    ];
    for run in all {
        let id = run.id.clone();
        runs.create(run, run_step(0)).await.unwrap();
        runs.advance(&id, last_step(1)).await.unwrap();
    }
    assert_eq!(runs.forget(&ann(), "boss").await, Ok(true));
    let left = runs.list(&ann(), None, 9).await.unwrap();
    assert_eq!(ids(&left), ["other.1.0", "other"]);
}

#[tokio::test]
async fn a_run_has_so_many_notes_beside_it_which_go_with_it() {
    let runs = crate::runs();
    let (one, other) = ("one", "other");
    begin(&*runs, one, "thread").await;
    begin(&*runs, other, "another").await;
    let note = async |run: &str, name: &str, text: Option<&str>| {
        runs.note(run, name, text.map(str::to_owned)).await.unwrap()
    };
    assert!(!note("none", "a", Some("1")).await);
    for place in 0..MOST_NOTES {
        assert!(note(one, &format!("n{place}"), Some("first")).await, "{place}");
    }
    assert!(!note(one, "beyond", Some("x")).await);
    assert!(note(one, "n1", Some("second")).await);
    assert!(note(one, "n0", None).await);
    assert!(!note(one, "n0", None).await);
    assert!(note(one, "beyond", Some("x")).await);
    assert!(note(other, "n1", Some("its own")).await);
    let notes = runs.notes(one).await.unwrap();
    assert_eq!(notes.len(), MOST_NOTES);
    let text = |text: &str, more: &str| (text.to_owned(), more.to_owned());
    assert_eq!(notes[..2], [text("beyond", "x"), text("n1", "second")]);
    runs.advance(one, last_step(1)).await.unwrap();
    assert_eq!(runs.notes(one).await.unwrap(), notes);
    assert!(runs.forget(&ann(), one).await.unwrap());
    assert_eq!(runs.notes(one).await.unwrap(), []);
    assert_eq!(runs.notes(other).await.unwrap(), [text("n1", "its own")]);
}
