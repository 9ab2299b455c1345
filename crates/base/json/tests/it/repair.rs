//! JSON as models write it.

mod bounds;
mod cases;
mod corpus;
mod random;

use toolcrib_json::repair::RepairedJson;

/// The value and the notes, or the refusal, on one line.
fn told(outcome: Result<RepairedJson, impl std::fmt::Display>) -> String {
    match outcome {
        Ok(RepairedJson { value, repairs }) => {
            let notes: Vec<_> = repairs.iter().map(ToString::to_string).collect();
            format!("{value} | {}", notes.join("; "))
        }
        Err(refusal) => format!("refused: {refusal}"),
    }
}
