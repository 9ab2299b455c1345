//! The file of tasks, and what is to be done of it.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use toolcrib_agent::RolloutTask;
use toolcrib_core::Fingerprint;

use crate::cli::args::RolloutArgs;

/// Tasks of one file.
const MOST: usize = 1_000_000;
/// Longest line that is read, in bytes.
const LONGEST: u64 = (8 << 20) + 1;

/// What stands in a file of tasks.
pub(super) struct TaskFile {
    pub(super) tasks: Vec<Arc<RolloutTask>>,
    /// Lines that cannot be used, each with its number and what is wrong with it.
    pub(super) broken: Vec<(usize, String)>,
}

/// A sample that is to be done.
pub(super) struct PlannedSample {
    pub(super) id: String,
    pub(super) task: Arc<RolloutTask>,
    pub(super) sample: u32,
}

impl TaskFile {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let shown = path.display();
        let file = File::open(path).with_context(|| format!("cannot read `{shown}`"))?;
        let mut reader = BufReader::new(file);
        let (mut tasks, mut broken, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            let read = reader.by_ref().take(LONGEST).read_until(b'\n', &mut line);
            let read = read.with_context(|| format!("cannot read `{shown}`"))?;
            if read == 0 {
                break;
            }
            if line.last() != Some(&b'\n') && line.len() as u64 == LONGEST {
                reader.skip_until(b'\n').with_context(|| format!("cannot read `{shown}`"))?;
            }
            let Ok(text) = str::from_utf8(&line) else {
                broken.push((number, "it is no UTF-8 text: convert it".to_owned()));
                continue;
            };
            let text = text.trim().trim_start_matches('\u{feff}');
            if text.is_empty() {
                continue;
            }
            match RolloutTask::read(text, number) {
                Ok(task) if !seen.insert(task.id.clone()) => {
                    let told = format!("the id `{}` stands at a task before: change it", task.id);
                    broken.push((number, told));
                }
                Ok(task) => tasks.push(Arc::new(task)),
                Err(told) => broken.push((number, told)),
            }
            if tasks.len() > MOST {
                bail!("`{shown}` has more than {MOST} tasks: split it");
            }
        }
        Ok(Self { tasks, broken })
    }

    /// All samples, in the order in which they begin: that of the file, or one that is drawn.
    pub(super) fn samples(&self, agent: &str, words: &RolloutArgs) -> Vec<PlannedSample> {
        let of_task = |task: &Arc<RolloutTask>| {
            let task = Arc::clone(task);
            (0..words.samples).map(move |sample| {
                let id = task.sample_id(agent, words.seed, sample);
                PlannedSample { id, task: Arc::clone(&task), sample }
            })
        };
        let mut samples: Vec<_> = self.tasks.iter().flat_map(of_task).collect();
        if words.shuffle {
            let place = |one: &PlannedSample| {
                Fingerprint::of(&serde_json::json!([words.seed, one.id])).to_string()
            };
            samples.sort_by_cached_key(place);
        }
        samples
    }
}
