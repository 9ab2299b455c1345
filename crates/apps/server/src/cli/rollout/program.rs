//! A program that is asked one thing: what it reads is written to it, and what it writes is read.

use std::path::PathBuf;

#[cfg(unix)]
use toolcrib_child::{Child, Program};

#[cfg(unix)]
use crate::config;

/// Longest answer, in bytes.
const LONGEST: u64 = 1 << 20;
/// Letters of its last words that are told.
const LAST_WORDS: usize = 300;

/// What it writes, if it ends well. Dropped, it ends the program with all that it started.
#[cfg(unix)]
pub(super) async fn answer(words: &[String], input: &[u8]) -> Result<String, String> {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    let Some((command, arguments)) = words.split_first() else {
        return Err("the command is empty".to_owned());
    };
    let mut program = Program::new(PathBuf::from(command), arguments.to_vec());
    program.inherited = config::inherited_variables();
    program.folder = std::path::absolute(".").ok();
    let mut child = Child::spawn(&program).await.map_err(|error| error.to_string())?;
    let Some((mut to, from)) = child.take_pipes() else {
        return Err("the judge has no pipes".to_owned());
    };
    let writing = async move {
        // One that reads nothing may have all that it needs.
        let _ = to.write_all(input).await;
        drop(to);
    };
    let mut said = Vec::new();
    let mut from = from.take(LONGEST + 1);
    let reading = from.read_to_end(&mut said);
    let (read, ()) = tokio::join!(reading, writing);
    read.map_err(|error| format!("the judge cannot be heard: {error}"))?;
    if said.len() as u64 > LONGEST {
        return Err(format!("the judge wrote more than {LONGEST} bytes"));
    }
    let exit = child.ended().await;
    if exit.code != Some(0) {
        let words = child.stderr().text();
        let start = words.char_indices().rev().nth(LAST_WORDS).map_or(0, |(at, _)| at);
        let words = words.get(start..).unwrap_or_default().trim();
        return Err(format!("the judge {exit}: {words}"));
    }
    String::from_utf8(said).map_err(|_| "the judge wrote no UTF-8 text".to_owned())
}

#[cfg(not(unix))]
pub(super) async fn answer(words: &[String], input: &[u8]) -> Result<String, String> {
    let _ = (words, input, LONGEST, LAST_WORDS, PathBuf::new());
    Err("no program can be started here: judge with `--reward-tool`".to_owned())
}
