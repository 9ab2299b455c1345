//! A record that goes from a file into a database and back is the same, row by row.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;
use toolcrib_core::{
    CallLedger as _, Caller, Content, Effect, Ending, Fingerprint, IdempotencyKey, KeyState,
    ResultLedger as _, RunLedger as _, RunStep, TicketLedger as _, ToolName,
};
use toolcrib_store::copy::{CopiedRow, CopiedTable, RecordReader, RowSink, TABLES, copy};
use toolcrib_store::{CallFilter, CopiedFile, Store, StoreError, StoreOptions};
use toolcrib_store_postgres::Database;

use crate::cluster::Cluster;
use crate::cut::parked;
use crate::owned::write_call;
use crate::proxy::{Proxy, Way};
use crate::runs::{last_step, new_run, run_step};
use crate::scratch::Scratch;

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("toolcrib-copied-{}-{name}", std::process::id());
        let folder = Self(std::env::temp_dir().join(name));
        std::fs::create_dir_all(&folder.0).unwrap();
        folder
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn key(name: &str) -> IdempotencyKey {
    let tool = ToolName::new("pay").unwrap();
    IdempotencyKey { caller: Caller::local(), tool, source: None, key: name.to_owned() }
}

/// Something of all that a record holds, and more of some than goes at once.
async fn fill(store: &Store) {
    for number in 0..1_200 {
        let effect = if number % 2 == 0 { Effect::Write } else { Effect::Read };
        let call = write_call(store, effect, &[]).await;
        let ending = if number % 3 == 0 { Ending::Unknown } else { Ending::Succeeded };
        store.finished(call, ending).await.unwrap();
    }
    for name in ["t1", "t2", "t3"] {
        store.park(parked(name)).await.unwrap();
    }
    let ticket = toolcrib_core::TicketId::claimed("t2");
    store.claim(&ticket, &Caller::local()).await.unwrap();
    for number in 0..40 {
        let key = key(&format!("k{number}"));
        store.begin(&key, Fingerprint::of(&json!(number))).await.unwrap();
        if number % 2 == 0 {
            store.settle(&key, &json!({ "answer": number, "quoted": "\"\\\u{1}" })).await.unwrap();
        }
    }
    for number in 0..9 {
        let content = Arc::new(Content::text(format!("{number}").repeat(70_000)));
        store.keep(&Caller::local(), content).await.unwrap();
    }
    for run in ["r1", "r2"] {
        store.create(new_run(run, run), run_step(0)).await.unwrap();
        let step = RunStep {
            items: (0..100).map(|item| format!("item {item}")).collect(),
            events: (0..100).map(|event| format!("{run} {event}")).collect(),
            ..run_step(1)
        };
        store.advance(run, step).await.unwrap();
        store.note(run, "push", Some("{}".to_owned())).await.unwrap();
    }
    store.advance("r1", last_step(2)).await.unwrap();
    store.flush().await.unwrap();
}

/// All rows of all tables.
fn rows(reader: &mut dyn RecordReader) -> Vec<(&'static str, Vec<CopiedRow>)> {
    let mut all = Vec::new();
    for table in TABLES {
        let mut rows = Vec::new();
        reader
            .read(table, &mut |page| {
                rows.extend(page);
                Ok(())
            })
            .unwrap();
        all.push((table.name, rows));
    }
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_goes_into_a_database_and_back_is_the_same_row_by_row() {
    let (folder, scratch) = (Folder::new("whole"), Scratch::new());
    let store = Store::open(&folder.file("one.db"), StoreOptions::default()).unwrap();
    fill(&store).await;
    drop(store);
    let url = scratch.url().to_owned();
    let files = ["one.db", "two.db"].map(|name| folder.file(name));
    tokio::task::spawn_blocking(move || {
        let mut told = Vec::new();
        let mut from = CopiedFile::source(&files[0]).unwrap();
        let to = Box::new(Database::at(&url).unwrap().target().unwrap());
        let copied = copy(&mut from, to, &mut |progress| told.push(progress)).unwrap();
        let before = rows(&mut from);
        let counts: Vec<_> = copied.iter().map(|of| (of.table, of.copied)).collect();
        let known: Vec<_> = before.iter().map(|(name, rows)| (*name, rows.len() as u64)).collect();
        assert_eq!(counts, known);
        assert!(known.iter().all(|(_, count)| *count > 0), "{known:?}");
        // Each page of rows was told, and the last of each table is all of it.
        assert!(told.len() > TABLES.len());
        let ends = told.iter().filter(|progress| progress.copied == progress.of);
        assert_eq!(ends.count(), TABLES.len());
        let mut from = Database::at(&url).unwrap().source().unwrap();
        let to = Box::new(CopiedFile::target(&files[1]).unwrap());
        copy(&mut from, to, &mut |_| {}).unwrap();
        let between = rows(&mut from);
        let after = rows(&mut CopiedFile::source(&files[1]).unwrap());
        for ((before, between), after) in before.iter().zip(&between).zip(&after) {
            assert_eq!(before.0, after.0);
            // What comes from a model may hold a zero, which a database of Postgres has not.
            let plain = |rows: &[CopiedRow]| format!("{rows:?}").replace("\\0", "\u{fffd}");
            assert_eq!(plain(&before.1), plain(&between.1), "{}", before.0);
            assert_eq!(between.1, after.1, "{}", before.0);
        }
    })
    .await
    .unwrap();
    // It is gone on with: numbers stand behind those that came over, and keys answer.
    let store = scratch.open(StoreOptions::default()).unwrap();
    let call = write_call(&store, Effect::Write, &[]).await;
    let page = store.calls(&Caller::local(), CallFilter::default(), None, 1).await.unwrap();
    assert_eq!(page.calls[0].key, call.to_string());
    let begun = store.begin(&key("k2"), Fingerprint::of(&json!(2))).await.unwrap();
    let answer = json!({ "answer": 2, "quoted": "\"\\\u{1}" });
    assert_eq!(begun, KeyState::Ended(answer));
    assert_eq!(store.parked(&Caller::local()).await.unwrap().len(), 3);
    store.create(new_run("r3", "r3"), run_step(0)).await.unwrap();
}

/// A store that cannot be read to its end.
struct Broken(CopiedFile);

impl RecordReader for Broken {
    fn count(&mut self, table: &CopiedTable) -> Result<u64, StoreError> {
        RecordReader::count(&mut self.0, table)
    }

    fn read(&mut self, table: &CopiedTable, sink: &mut RowSink<'_>) -> Result<(), StoreError> {
        self.0.read(table, sink)?;
        if table.name == "keys" {
            return Err(StoreError::Unreadable { path: "one.db".into() });
        }
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_that_is_cut_off_leaves_nothing_and_one_that_is_there_is_not_written_over() {
    let (folder, scratch) = (Folder::new("cut"), Scratch::new());
    let store = Store::open(&folder.file("one.db"), StoreOptions::default()).unwrap();
    fill(&store).await;
    let in_use = CopiedFile::source(&folder.file("one.db")).map(drop).unwrap_err().to_string();
    assert!(in_use.contains(" is in use by another process"), "{in_use}");
    drop(store);
    let url = scratch.url().to_owned();
    let file = folder.file("one.db");
    tokio::task::spawn_blocking(move || {
        let target = || Box::new(Database::at(&url).unwrap().target().unwrap());
        let mut broken = Broken(CopiedFile::source(&file).unwrap());
        copy(&mut broken, target(), &mut |_| {}).unwrap_err();
        let left = rows(&mut Database::at(&url).unwrap().source().unwrap());
        assert!(left.iter().all(|(_, rows)| rows.is_empty()));
        copy(&mut broken.0, target(), &mut |_| {}).unwrap();
        let again = copy(&mut broken.0, target(), &mut |_| {}).unwrap_err().to_string();
        assert!(again.ends_with(" holds something already: name one that is empty"), "{again}");
        let missing = CopiedFile::source(&file.with_extension("no")).map(drop);
        assert!(missing.unwrap_err().to_string().contains("cannot open the store"));
        assert!(!file.with_extension("no").exists());
    })
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_whose_confirmation_is_cut_off_is_told_as_one_that_nobody_knows_of() {
    let folder = Folder::new("unconfirmed");
    let store = Store::open(&folder.file("one.db"), StoreOptions::default()).unwrap();
    fill(&store).await;
    drop(store);
    let cluster = Cluster::start("unconfirmed");
    cluster.database("record");
    let proxy = Proxy::start(cluster.folder());
    let file = folder.file("one.db");
    tokio::task::spawn_blocking(move || {
        let mut from = CopiedFile::source(&file).unwrap();
        for (way, is_there) in [(Way::ShutBeforeCommit, false), (Way::ShutAfterCommit, true)] {
            let to = Box::new(Database::at(&proxy.url("record")).unwrap().target().unwrap());
            proxy.set(way);
            let error = copy(&mut from, to, &mut |_| {}).unwrap_err();
            assert!(matches!(error, StoreError::Unconfirmed { .. }), "{way:?}: {error}");
            proxy.set(Way::Open);
            let mut found = Database::at(&proxy.url("record")).unwrap().source().unwrap();
            let found = rows(&mut found);
            assert!(found.iter().all(|(_, rows)| rows.is_empty() != is_there), "{way:?}");
        }
    })
    .await
    .unwrap();
}
