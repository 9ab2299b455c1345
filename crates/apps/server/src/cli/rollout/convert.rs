//! Trajectories in the form of a trainer, one file into another.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Read as _, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::json;
use toolcrib_agent::{Trainer, Trajectory};

use crate::cli::CommandExit;
use crate::cli::args::TrainerName;
use crate::cli::output::Output;

/// Longest line that is read, in bytes.
const LONGEST: u64 = 1 << 30;
/// Lines that are told one by one.
const MOST_TOLD: usize = 20;

impl From<TrainerName> for Trainer {
    fn from(name: TrainerName) -> Self {
        match name {
            TrainerName::Twinkle => Self::Twinkle,
            TrainerName::Verl => Self::Verl,
            TrainerName::Verifiers => Self::Verifiers,
        }
    }
}

/// Where lines go.
enum LineSink<'a> {
    File(BufWriter<File>),
    Output(&'a Output),
}

pub(super) fn convert(
    output: &Output,
    file: &Path,
    to: TrainerName,
    save: Option<&Path>,
) -> Result<CommandExit> {
    let shown = file.display();
    let unreadable = || format!("cannot read `{shown}`");
    let mut reader = BufReader::new(File::open(file).with_context(unreadable)?);
    let mut sink = match save {
        Some(path) => {
            let made = File::create(path);
            let made = made.with_context(|| format!("cannot write `{}`", path.display()))?;
            LineSink::File(BufWriter::new(made))
        }
        None => LineSink::Output(output),
    };
    let trainer = Trainer::from(to);
    let (mut written, mut broken) = (0_usize, 0_usize);
    let mut left_out: BTreeMap<String, usize> = BTreeMap::new();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = reader.by_ref().take(LONGEST).read_until(b'\n', &mut line);
        if read.with_context(unreadable)? == 0 {
            break;
        }
        let one: Trajectory = match serde_json::from_slice(&line) {
            Ok(one) => one,
            Err(error) => {
                broken += 1;
                if broken <= MOST_TOLD {
                    output.warn(&[format!("line {number} of `{shown}` is no trajectory: {error}")]);
                }
                continue;
            }
        };
        match trainer.lines(&one) {
            Ok(lines) => {
                written += lines.len();
                lines.iter().try_for_each(|line| sink.write(line))?;
            }
            Err(why) => *left_out.entry(why.to_owned()).or_default() += 1,
        }
    }
    sink.end()?;
    let told = left_out.iter().map(|(why, count)| format!("{count} left out: {why}"));
    told.for_each(|told| output.note(&told));
    if save.is_some() {
        let told = json!({ "lines": written, "left_out": left_out, "broken": broken });
        if output.json {
            output.value(&told)?;
        } else {
            output.note(&format!("{written} lines were written"));
        }
    }
    let is_nothing = written == 0 && !left_out.is_empty();
    Ok(if broken > 0 || is_nothing { CommandExit::Failed } else { CommandExit::Done })
}

impl LineSink<'_> {
    fn write(&mut self, line: &serde_json::Value) -> Result<()> {
        match self {
            Self::File(file) => Ok(writeln!(file, "{line}")?),
            Self::Output(output) => output.line(line),
        }
    }

    fn end(self) -> Result<()> {
        if let Self::File(mut file) = self {
            file.flush()?;
        }
        Ok(())
    }
}
