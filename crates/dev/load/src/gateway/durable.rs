//! What a durable record costs: calls that write and calls that read, with a store and without.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::load::{LoadSettings, MeasureSettings, run};
use crate::client::session::{ClientEra, LoadCall};
use crate::figures::{median, round};
use crate::gateway::ways::until_there;
use crate::test_bed::{MeasuredPrograms, STORE, TestBed, over_http};
use crate::{LoadError, LoadFigures};

/// What is added to each sync of a disk, for what is promised of one whose syncs take 4 ms.
const ADDED: Duration = Duration::from_micros(3_900);

/// Measures each in turns, with the time of one `fdatasync` between them; then writes alone, to a
/// disk that takes longer.
pub async fn durable(
    programs: &MeasuredPrograms,
    below: &Path,
    much: &MeasureSettings,
) -> Result<Value, LoadError> {
    let plain = TestBed::new(programs, below)?;
    let kept = TestBed::new(programs, below)?;
    let (_echo, direct) = plain.echo(0)?;
    let file = over_http("far", &direct);
    let (without, to_plain) = plain.forgetful(&file)?;
    let (with, to_kept) = kept.serve(&format!("{STORE}{file}"))?;
    let (read, write) = (LoadCall::echo("far__echo"), LoadCall::echo("far__put"));
    until_there(&to_plain, &read).await?;
    until_there(&to_kept, &read).await?;
    let ways = [
        ("reads_without_store", &to_plain, &without, &read),
        ("reads_with_store", &to_kept, &with, &read),
        ("writes_without_store", &to_plain, &without, &write),
        ("writes_with_store", &to_kept, &with, &write),
    ];
    let mut rows = Vec::new();
    let mut syncs = Vec::new();
    for sessions in &much.sessions {
        let load = much.load(*sessions, ClientEra::Modern);
        let mut found: Vec<LoadFigures> = ways.iter().map(|_| LoadFigures::default()).collect();
        for _ in 0..much.rounds {
            syncs.push(sync(kept.folder())?);
            for ((_, target, program, ask), figures) in ways.iter().zip(&mut found) {
                figures.add(run(target, ask, load, program).await?);
            }
        }
        let mut row = json!({ "sessions": sessions });
        for ((name, ..), figures) in ways.iter().zip(&found) {
            if let Some(fields) = row.as_object_mut() {
                fields.insert((*name).to_owned(), figures.to_json());
            }
        }
        rows.push(row);
    }
    let slow = match slow(programs, below, much).await {
        Ok(rows) => rows,
        Err(error) => json!({ "error": error.to_string() }),
    };
    let sync = round(median(syncs) * 100.0) / 100.0;
    Ok(json!({ "fdatasync_ms": sync, "rows": rows, "slow": slow }))
}

/// Writes with a store where each sync takes longer. Needs `strace`.
async fn slow(
    programs: &MeasuredPrograms,
    below: &Path,
    much: &MeasureSettings,
) -> Result<Value, LoadError> {
    let place = TestBed::new(programs, below)?;
    let (_echo, direct) = place.echo(0)?;
    let file = format!("{STORE}{}", over_http("far", &direct));
    let (program, target) = place.serve_slowly(&file, ADDED)?;
    until_there(&target, &LoadCall::echo("far__echo")).await?;
    let mut rows = Vec::new();
    for sessions in &much.sessions {
        let load = LoadSettings { lasts: much.lasts, ..much.load(*sessions, ClientEra::Modern) };
        let figures = run(&target, &LoadCall::echo("far__put"), load, &program).await?;
        rows.push(json!({ "sessions": sessions, "writes_with_store": figures.to_json() }));
    }
    Ok(json!({ "added_ms": ADDED.as_secs_f64() * 1e3, "rows": rows }))
}

/// Milliseconds of one `fdatasync` after a page was written, in the middle of many.
fn sync(folder: &Path) -> Result<f64, LoadError> {
    let path = folder.join("sync");
    let mut file = File::create(&path)?;
    let mut times = Vec::new();
    for _ in 0..50 {
        file.write_all(&[7; 4096])?;
        let begun = Instant::now();
        file.sync_data()?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    std::fs::remove_file(path)?;
    Ok(median(times))
}
