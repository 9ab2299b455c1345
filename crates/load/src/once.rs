//! A start and one of every usual call, for whoever watches what they execute.

use std::path::Path;

use serde_json::{Value, json};

use crate::gateway::until_there;
use crate::place::{BASICS, over_http};
use crate::start::counted;
use crate::{Ask, Era, Fault, Place, Program, Programs, Session, Target};

/// Serves what comes embedded and what a file names, asks each once in both eras, and ends them as
/// an operator does. No server is started as a child: valgrind lets nobody lower their limits.
pub async fn once(programs: &Programs, below: &Path) -> Result<Value, Fault> {
    let place = Place::new(programs, below)?;
    let of_embedded = ask(place.embedded()?, &[counted()]).await?;
    let place = Place::new(programs, below)?;
    let (_echo, far) = place.echo(0)?;
    let file = [BASICS, &over_http("far", &far)].concat();
    let of_file = ask(place.serve(&file)?, &[counted(), Ask::echo("far__echo")]).await?;
    Ok(json!({ "answers": of_embedded + of_file }))
}

/// How many answers came, all of them right.
async fn ask((program, target): (Program, Target), asks: &[Ask]) -> Result<usize, Fault> {
    let mut answers = 0;
    for ask in asks {
        until_there(&target, ask).await?;
    }
    for era in [Era::Modern, Era::Legacy] {
        let mut session = Session::open(&target, era).await?;
        session.list().await?;
        for ask in asks {
            session.call(ask).await?;
            answers += 1;
        }
    }
    program.stop()?;
    Ok(answers)
}
