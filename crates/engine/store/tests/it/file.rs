//! The file: whose it is, what form it has, and what a damaged one says.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use proptest::prelude::*;
use rusqlite::Connection;
use serde_json::json;
use toolcrib_core::{Call, Caller, Effect, PlanRequest, RawArguments, Toolset};
use toolcrib_engine::Crib;
use toolcrib_store::{CallFilter, Store, StoreError, StoreOptions};
use toolcrib_testkit::Oracle;

use crate::scratch::Scratch;

/// The error without its path.
fn refusal(scratch: &Scratch) -> String {
    let error = Store::open(&scratch.file(), StoreOptions::default()).err().unwrap().to_string();
    let path = scratch.file().canonicalize().unwrap();
    assert!(error.contains(path.to_str().unwrap()), "{error}");
    error.replace(path.to_str().unwrap(), "FILE")
}

#[tokio::test]
async fn a_store_is_readable_by_its_owner_alone_and_opened_once() {
    let scratch = Scratch::new();
    fs::write(scratch.file(), b"").unwrap();
    fs::set_permissions(scratch.file(), fs::Permissions::from_mode(0o644)).unwrap();
    let store = Store::open(&scratch.file(), StoreOptions::default()).unwrap();
    store.calls(&Caller::local(), CallFilter::default(), None, 1).await.unwrap();
    for file in fs::read_dir(scratch.path()).unwrap() {
        let file = file.unwrap();
        let mode = file.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", file.path().display());
    }
    let in_use =
        "the store `FILE` is in use by another process: end that one, or name another file";
    assert_eq!(refusal(&scratch), in_use);
    let other_way = scratch.path().join("link.db");
    symlink(scratch.file(), &other_way).unwrap();
    let refused = Store::open(&other_way, StoreOptions::default());
    assert!(matches!(refused.err(), Some(StoreError::Owned { .. })));
    drop(store);
    assert!(Store::open(&other_way, StoreOptions::default()).is_ok());
}

#[test]
fn a_file_of_a_newer_release_or_of_something_else_is_left_alone() {
    let scratch = Scratch::new();
    drop(Store::open(&scratch.file(), StoreOptions::default()).unwrap());
    let raw = Connection::open(scratch.file()).unwrap();
    raw.pragma_update(None, "user_version", 13).unwrap();
    drop(raw);
    assert_eq!(
        refusal(&scratch),
        "the store `FILE` was written by a newer release (its form is 13, this release knows 12): \
         use that release, or name another file"
    );
    let scratch = Scratch::new();
    let raw = Connection::open(scratch.file()).unwrap();
    raw.execute_batch("CREATE TABLE theirs (x)").unwrap();
    drop(raw);
    let before = fs::read(scratch.file()).unwrap();
    assert_eq!(refusal(&scratch), "`FILE` is the file of something else: name another file");
    assert_eq!(fs::read(scratch.file()).unwrap(), before);
    let scratch = Scratch::new();
    fs::write(scratch.file(), "a text\n".repeat(1_000)).unwrap();
    let damaged = "the store `FILE` is damaged: put a copy back, or move it away to begin anew";
    assert_eq!(refusal(&scratch), damaged);
    let scratch = Scratch::new();
    fs::create_dir(scratch.file()).unwrap();
    assert_eq!(refusal(&scratch), "`FILE` is the file of something else: name another file");
}

#[test]
fn a_store_in_no_directory_is_an_error_that_names_it() {
    let scratch = Scratch::new();
    let path = scratch.path().join("nowhere/crib.db");
    let error = Store::open(&path, StoreOptions::default()).err().unwrap();
    let begin = format!("cannot open the store `{}`: its directory must be there", path.display());
    assert!(error.to_string().starts_with(&begin), "{error}");
}

/// Runs some calls and tells what became of the file's use.
async fn used(scratch: &Scratch, count: u32) -> Result<Vec<String>, StoreError> {
    let store = Store::open(&scratch.file(), StoreOptions::default())?;
    let oracle = Oracle::default();
    let tools = Toolset::of([oracle.echo("write", Effect::Write)]).unwrap();
    let crib = Crib::builder().ledger(std::sync::Arc::new(store.clone())).build_fixed(tools);
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let call = |n: u32| Call::new(n.to_string(), "write", RawArguments::Value(json!({ "n": n })));
    let report = crib.run(&plan, (0..count).map(call).collect()).await;
    let done = report.responses.iter().filter(|response| response.outcome.is_done()).count();
    assert_eq!(done, oracle.count("write"), "what was not recorded did not run");
    store.calls(&Caller::local(), CallFilter::default(), None, 500).await?;
    store.check().await
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_file_is_an_error_that_names_it_and_never_a_panic(
        at in 0.0_f64..1.0,
        length in 1_usize..6_000,
        fill in any::<u8>(),
        cut in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let scratch = Scratch::new();
        assert_eq!(runtime.block_on(used(&scratch, 60)).unwrap(), Vec::<String>::new());
        let mut bytes = fs::read(scratch.file()).unwrap();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a place in a small file"
        )]
        let from = (bytes.len() as f64 * at) as usize;
        let to = (from + length).min(bytes.len());
        bytes[from..to].fill(fill);
        if cut {
            bytes.truncate(from);
        }
        fs::write(scratch.file(), bytes).unwrap();
        if let Err(error) = runtime.block_on(used(&scratch, 60)) {
            prop_assert!(error.to_string().contains("crib.db"), "{error}");
        }
    }
}
