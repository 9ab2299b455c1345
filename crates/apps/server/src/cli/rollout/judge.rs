//! Who says what a trajectory is worth: a program, or a tool. Whoever fails says nothing, and that
//! is told; it is never taken for zero.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use toolcrib_agent::Trajectory;
use toolcrib_core::{Call, Caller, Discovery, PlanRequest};
use toolcrib_engine::Crib;

use super::program;

/// Judges that work at the same time.
const MOST: usize = 8;
/// Metrics of one trajectory.
const MOST_METRICS: usize = 256;

/// A judge, and how long it may take.
pub(super) struct Judge {
    kind: JudgeKind,
    within: Duration,
    places: Semaphore,
}

pub(super) enum JudgeKind {
    /// Words of a command line, the first of which is the program.
    Program(Vec<String>),
    Tool(String, Box<JudgeCrib>),
}

/// What a tool that judges is called over.
pub(super) struct JudgeCrib {
    pub(super) crib: Crib,
    pub(super) caller: Arc<Caller>,
}

/// What a judge says.
#[derive(Deserialize)]
struct Judgement {
    reward: Option<f64>,
    #[serde(default)]
    metrics: Map<String, Value>,
}

impl Judge {
    pub(super) fn new(kind: JudgeKind, within: Duration) -> Self {
        Self { kind, within, places: Semaphore::new(MOST) }
    }

    /// Adds what it says to the trajectory.
    pub(super) async fn judge(&self, one: &mut Trajectory) {
        // Nobody closes it.
        let _place = self.places.acquire().await;
        let said = timeout(self.within, self.said(one)).await;
        let late = || format!("the judge said nothing within {} s", self.within.as_secs_f64());
        match said.unwrap_or_else(|_| Err(late())).and_then(|said| read(&said)) {
            Ok((reward, metrics)) => {
                one.reward = Some(reward);
                one.metrics = metrics;
            }
            Err(fault) => one.reward_fault = Some(fault),
        }
    }

    async fn said(&self, one: &Trajectory) -> Result<String, String> {
        match &self.kind {
            JudgeKind::Program(words) => {
                let input = serde_json::to_vec(one).map_err(|error| error.to_string())?;
                program::answer(words, &input).await
            }
            JudgeKind::Tool(name, over) => over.call(name, one).await,
        }
    }
}

impl JudgeCrib {
    async fn call(&self, name: &str, one: &Trajectory) -> Result<String, String> {
        let plan = self.crib.plan(&self.caller, PlanRequest::default().show(Discovery::Direct));
        let plan = plan.map_err(|error| error.to_string())?;
        let arguments = json!({ "trajectory": one });
        let call = Call::new("judge", name, arguments.into());
        let report = self.crib.run(&plan, vec![call]).await;
        let response = report.responses.into_iter().next();
        let response = response.ok_or("the tool that judges was not called")?;
        if !response.outcome.is_done() {
            return Err(format!("the tool `{name}` gave no judgement: {}", response.text()));
        }
        let data = response.content().and_then(|content| content.structured.clone());
        Ok(data.map_or_else(|| response.text(), |data| data.to_string()))
    }
}

fn read(said: &str) -> Result<(f64, Map<String, Value>), String> {
    let said = said.trim();
    let judgement: Judgement = serde_json::from_str(said).map_err(|error| {
        let said: String = said.chars().take(200).collect();
        format!("the judge wrote no {{\"reward\": 1.0}} ({error}): {said}")
    })?;
    let reward = judgement.reward.filter(|reward| reward.is_finite());
    let reward = reward.ok_or("the judge gave no reward")?;
    let numbers = judgement.metrics.into_iter().filter(|(_, value)| value.is_number());
    Ok((reward, numbers.take(MOST_METRICS).collect()))
}

/// The words of a command line: split at blanks, with quotes. No shell sees them.
pub(super) fn words(line: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, _) if letter.is_whitespace() => words.extend(word.take()),
            (_, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    match (quote, words.is_empty()) {
        (Some(open), _) => Err(format!("the quote {open} of `{line}` is not closed")),
        (None, true) => Err("the command is empty: write 'python3 judge.py'".to_owned()),
        (None, false) => Ok(words),
    }
}

#[cfg(test)]
mod tests {
    use super::{read, words};

    #[test]
    fn a_command_line_is_split_as_a_person_means_it() {
        let split = |line| words(line).unwrap();
        assert_eq!(split("python3 judge.py"), ["python3", "judge.py"]);
        assert_eq!(split("  a 'b c'  \"d'e\" f''g "), ["a", "b c", "d'e", "fg"]);
        assert_eq!(split("a '' b"), ["a", "", "b"]);
        assert!(words("a 'b").unwrap_err().contains("not closed"));
        assert!(words(" ").unwrap_err().contains("empty"));
    }

    #[test]
    fn what_is_no_judgement_is_never_a_zero() {
        let (reward, metrics) = read(r#"{"reward": 0.5, "metrics": {"a": 1, "b": "no"}}"#).unwrap();
        assert_eq!((reward, metrics.len()), (0.5, 1));
        for said in ["", "0.5", "{}", r#"{"reward": null}"#, r#"{"reward": "1"}"#, "nan"] {
            assert!(read(said).is_err(), "{said}");
        }
    }
}
