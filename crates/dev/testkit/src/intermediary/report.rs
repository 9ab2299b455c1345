//! What came of all checks, for people and for programs.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::words::IntermediaryRevision;

/// How much it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntermediaryLevel {
    Must,
    Should,
}

impl IntermediaryLevel {
    pub const ALL: [Self; 2] = [Self::Must, Self::Should];

    pub fn word(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Should => "should",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IntermediaryVerdict {
    Passed,
    Failed(String),
    Skipped(String),
}

/// What came of one check in one revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntermediaryMark {
    pub id: &'static str,
    /// What is checked, as a sentence, and the clause or the reason that it rests on.
    pub name: &'static str,
    pub rests_on: &'static str,
    pub level: IntermediaryLevel,
    pub revision: IntermediaryRevision,
    pub verdict: IntermediaryVerdict,
    pub milliseconds: u64,
}

/// What came of a run.
#[derive(Debug, Clone, Default)]
pub struct IntermediaryReport {
    /// The address of the gateway.
    pub place: String,
    pub revisions: Vec<IntermediaryRevision>,
    pub marks: Vec<IntermediaryMark>,
}

impl IntermediaryReport {
    /// How many of a level passed, failed and were skipped.
    pub fn count(&self, revision: IntermediaryRevision, level: IntermediaryLevel) -> [usize; 3] {
        let mut count = [0; 3];
        for mark in self.of(revision, level) {
            let [passed, failed, skipped] = &mut count;
            match mark.verdict {
                IntermediaryVerdict::Passed => *passed += 1,
                IntermediaryVerdict::Failed(_) => *failed += 1,
                IntermediaryVerdict::Skipped(_) => *skipped += 1,
            }
        }
        count
    }

    /// Whether nothing failed that must be.
    pub fn conforms(&self) -> bool {
        let must = self.marks.iter().filter(|mark| mark.level == IntermediaryLevel::Must);
        !must.into_iter().any(|mark| matches!(mark.verdict, IntermediaryVerdict::Failed(_)))
    }

    fn of(
        &self,
        revision: IntermediaryRevision,
        level: IntermediaryLevel,
    ) -> impl Iterator<Item = &IntermediaryMark> {
        self.marks.iter().filter(move |mark| mark.revision == revision && mark.level == level)
    }

    /// A table for each revision, what failed, and why what was left out was.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for revision in &self.revisions {
            let word = revision.word();
            let _ = writeln!(text, "{word}  {}\n\n        passed  failed  skipped", self.place);
            for level in IntermediaryLevel::ALL {
                let [passed, failed, skipped] = self.count(*revision, level);
                let word = level.word();
                let _ = writeln!(text, "{word:<6}  {passed:>6}  {failed:>6}  {skipped:>7}");
            }
            self.tell_failed(*revision, &mut text);
            self.tell_skipped(*revision, &mut text);
            text.push('\n');
        }
        text
    }

    fn tell_failed(&self, revision: IntermediaryRevision, text: &mut String) {
        for level in IntermediaryLevel::ALL {
            for mark in self.of(revision, level) {
                let IntermediaryVerdict::Failed(why) = &mark.verdict else { continue };
                let _ = writeln!(text, "\nfailed ({}): {}  {}", level.word(), mark.id, mark.name);
                let _ = writeln!(text, "  {why}\n  it rests on: {}", mark.rests_on);
            }
        }
    }

    fn tell_skipped(&self, revision: IntermediaryRevision, text: &mut String) {
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for mark in self.marks.iter().filter(|mark| mark.revision == revision) {
            let IntermediaryVerdict::Skipped(why) = &mark.verdict else { continue };
            match reasons.iter_mut().find(|(known, _)| known == why) {
                Some((_, ids)) => ids.push(mark.id),
                None => reasons.push((why, vec![mark.id])),
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
        let checks = self.marks.iter().map(|mark| {
            let (result, why) = match &mark.verdict {
                IntermediaryVerdict::Passed => ("passed", None),
                IntermediaryVerdict::Failed(why) => ("failed", Some(why)),
                IntermediaryVerdict::Skipped(why) => ("skipped", Some(why)),
            };
            json!({
                "id": mark.id, "name": mark.name, "rests_on": mark.rests_on,
                "level": mark.level.word(), "revision": mark.revision.word(),
                "result": result, "why": why, "milliseconds": mark.milliseconds,
            })
        });
        let revisions = self.revisions.iter().map(|revision| {
            let mut levels = Map::new();
            for level in IntermediaryLevel::ALL {
                let [passed, failed, skipped] = self.count(*revision, level);
                let counts = json!({ "passed": passed, "failed": failed, "skipped": skipped });
                levels.insert(level.word().to_owned(), counts);
            }
            json!({ "revision": revision.word(), "levels": levels })
        });
        json!({
            "conforms": self.conforms(), "place": self.place,
            "revisions": revisions.collect::<Vec<_>>(), "checks": checks.collect::<Vec<_>>(),
        })
    }
}
