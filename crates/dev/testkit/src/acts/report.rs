//! What came of all tests, for people and for programs.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::binding::ActsBinding;
use super::special::ActsVerdict;
use super::suite::ActsLevel;

/// What came of one test over one binding; of a client there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActsMark {
    pub id: String,
    pub name: String,
    pub level: ActsLevel,
    pub binding: Option<ActsBinding>,
    pub verdict: ActsVerdict,
    pub milliseconds: u64,
}

/// What came of a run.
#[derive(Debug, Clone, Default)]
pub struct ActsReport {
    /// Where each binding was asked.
    pub places: Vec<(Option<ActsBinding>, String)>,
    pub marks: Vec<ActsMark>,
}

/// How many of a level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ActsCount {
    pub passed: usize,
    pub failed: usize,
    pub skipped: usize,
}

impl ActsReport {
    /// The tests of a level that failed over a binding, in the order of the suite.
    pub fn failed(&self, binding: Option<ActsBinding>, level: ActsLevel) -> Vec<&ActsMark> {
        let of = |mark: &&ActsMark| matches!(mark.verdict, ActsVerdict::Failed(_));
        self.of(binding, level).into_iter().filter(of).collect()
    }

    pub fn count(&self, binding: Option<ActsBinding>, level: ActsLevel) -> ActsCount {
        let mut count = ActsCount::default();
        for mark in self.of(binding, level) {
            match mark.verdict {
                ActsVerdict::Passed => count.passed += 1,
                ActsVerdict::Failed(_) => count.failed += 1,
                ActsVerdict::Skipped(_) => count.skipped += 1,
            }
        }
        count
    }

    /// Whether nothing failed that must be.
    pub fn conforms(&self) -> bool {
        let must = self.marks.iter().filter(|mark| mark.level == ActsLevel::Must);
        !must.into_iter().any(|mark| matches!(mark.verdict, ActsVerdict::Failed(_)))
    }

    fn of(&self, binding: Option<ActsBinding>, level: ActsLevel) -> Vec<&ActsMark> {
        let of = |mark: &&ActsMark| mark.binding == binding && mark.level == level;
        self.marks.iter().filter(of).collect()
    }

    /// A table for each binding, what failed, and why what was left out was.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (binding, place) in &self.places {
            let way = binding.map_or("client", ActsBinding::word);
            let _ = writeln!(text, "{way}  {place}\n\n        passed  failed  skipped");
            for level in ActsLevel::ALL {
                let ActsCount { passed, failed, skipped } = self.count(*binding, level);
                let word = level.word();
                let _ = writeln!(text, "{word:<6}  {passed:>6}  {failed:>6}  {skipped:>7}");
            }
            self.tell_failed(*binding, &mut text);
            self.tell_skipped(*binding, &mut text);
            text.push('\n');
        }
        text
    }

    fn tell_failed(&self, binding: Option<ActsBinding>, text: &mut String) {
        for level in ActsLevel::ALL {
            for mark in self.failed(binding, level) {
                let ActsVerdict::Failed(faults) = &mark.verdict else { continue };
                let _ = writeln!(text, "\nfailed ({}): {}  {}", level.word(), mark.id, mark.name);
                for fault in faults {
                    let _ = writeln!(text, "  {fault}");
                }
            }
        }
    }

    fn tell_skipped(&self, binding: Option<ActsBinding>, text: &mut String) {
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for mark in self.marks.iter().filter(|mark| mark.binding == binding) {
            let ActsVerdict::Skipped(why) = &mark.verdict else { continue };
            match reasons.iter_mut().find(|(known, _)| known == why) {
                Some((_, ids)) => ids.push(&mark.id),
                None => reasons.push((why, vec![&mark.id])),
            }
        }
        if !reasons.is_empty() {
            text.push_str("\nskipped:\n");
        }
        for (why, ids) in reasons {
            let _ = writeln!(text, "  {why}: {}", ids.join(" "));
        }
    }

    pub fn json(&self) -> Value {
        let marks = self.marks.iter().map(|mark| {
            let (result, why) = match &mark.verdict {
                ActsVerdict::Passed => ("passed", json!([])),
                ActsVerdict::Failed(faults) => ("failed", json!(faults)),
                ActsVerdict::Skipped(why) => ("skipped", json!([why])),
            };
            json!({
                "id": mark.id, "name": mark.name, "level": mark.level.word(),
                "binding": mark.binding.map(ActsBinding::word), "result": result, "why": why,
                "milliseconds": mark.milliseconds,
            })
        });
        let places = self.places.iter().map(|(binding, place)| {
            let mut levels = Map::new();
            for level in ActsLevel::ALL {
                let ActsCount { passed, failed, skipped } = self.count(*binding, level);
                let counts = json!({ "passed": passed, "failed": failed, "skipped": skipped });
                levels.insert(level.word().to_owned(), counts);
            }
            json!({ "binding": binding.map(ActsBinding::word), "place": place, "levels": levels })
        });
        json!({
            "conforms": self.conforms(), "places": places.collect::<Vec<_>>(),
            "tests": marks.collect::<Vec<_>>(),
        })
    }
}
