//! A supervisor with two workers: each is given its own view of the tools, and can use no other. The
//! workers' models here are functions; put requests to real ones in their place.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use toolcrib::prelude::*;
use toolcrib::selection::{AgentSystem, WorkerRole, WorkerView, bind};
use toolcrib::serde_json::json;
use toolcrib::{Call, RawArguments};

/// An agent that works with what it was given.
struct Worker {
    role: WorkerRole,
    view: Option<WorkerView>,
}

impl Worker {
    fn new(name: &str, role: &str) -> Self {
        Self { role: WorkerRole { name: name.to_owned(), role: role.to_owned() }, view: None }
    }

    /// Does one thing with one of its tools, as its model would say.
    async fn work(
        &self,
        tool: &str,
        arguments: toolcrib::serde_json::Value,
    ) -> Result<String, Box<dyn std::error::Error>> {
        let view = self.view.as_ref().ok_or("the worker has no tools yet")?;
        let plan = view.plan(PlanRequest::default())?;
        let call = Call::new("call_1", tool, RawArguments::Value(arguments));
        let report = view.run(&plan, vec![call]).await;
        Ok(report.responses.iter().map(toolcrib::Response::text).collect())
    }
}

/// Hands its parts of a task to its workers.
struct Supervisor {
    workers: Vec<Worker>,
}

impl AgentSystem for Supervisor {
    fn workers(&self) -> Vec<WorkerRole> {
        self.workers.iter().map(|worker| worker.role.clone()).collect()
    }

    fn equip(&mut self, view: WorkerView) {
        if let Some(worker) = self.workers.iter_mut().find(|worker| worker.view.is_none()) {
            worker.view = Some(view);
        }
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Sum {
    numbers: Vec<i64>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Words {
    words: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let crib = Crib::new([
        tool("sum_numbers", "Adds numbers up.", Effect::Read, |it: Sum| async move {
            Ok(it.numbers.iter().sum::<i64>())
        })?,
        tool("multiply_numbers", "Multiplies numbers.", Effect::Read, |it: Sum| async move {
            Ok(it.numbers.iter().product::<i64>())
        })?,
        tool("search_letters", "Searches the letters.", Effect::Read, |it: Words| async move {
            Ok(format!("one letter about {}", it.words))
        })?,
        tool("send_letter", "Sends a letter.", Effect::Write, |it: Words| async move {
            Ok(format!("sent: {}", it.words))
        })?,
    ])?;
    let mut supervisor = Supervisor {
        workers: vec![
            Worker::new("clerk", "Numbers: sums and products"),
            Worker::new("post", "Letters"),
        ],
    };
    let bound = bind(&mut supervisor, &crib, None)?;
    for agent in &bound.agents {
        let names: Vec<_> = agent.tools.iter().map(|tool| tool.name.as_str()).collect();
        println!("{} has {}", agent.name, names.join(", "));
    }

    let [clerk, post] = &*supervisor.workers else { return Err("there are two workers".into()) };
    let sum = clerk.work("sum_numbers", json!({ "numbers": [19, 23] })).await?;
    let sent = post.work("send_letter", json!({ "words": format!("The sum is {sum}.") })).await?;
    println!("{sent}");
    assert_eq!(sent, "sent: The sum is 42.");
    // A worker has no way to the tools of another.
    let refused = clerk.work("send_letter", json!({ "words": "I quit." })).await?;
    println!("the clerk is told: {refused}");
    assert!(!refused.starts_with("sent"), "{refused}");
    Ok(())
}

#[test]
fn it_runs() -> Result<(), Box<dyn std::error::Error>> {
    main()
}
