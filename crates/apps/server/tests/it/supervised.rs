//! A supervisor with two workers, whose tools are bound from a file of MAS-Arena: the servers of the
//! file are child processes, and each worker is driven by a model over a socket.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolcrib_agent::model::{CallChoice, ModelApi, ModelClient, ModelSettings};
use toolcrib_agent::{Agent, AgentRun, Budget, CheckPolicy, RunOrder, RunPause, ThreadItem};
use toolcrib_config::LiveConfig;
use toolcrib_core::{Caller, PlanRequest, ToolName};
use toolcrib_engine::selection::{AgentSystem, BindSettings, WorkerRole, WorkerView};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use crate::process::Folder;
use crate::serve::script;

/// A worker with its model.
struct Worker {
    name: &'static str,
    model: ScriptedModel,
    agent: Option<Arc<Agent>>,
}

struct Supervisor(Vec<Worker>);

impl Worker {
    fn new(name: &'static str, turns: impl IntoIterator<Item = ScriptedTurn>) -> Self {
        Self { name, model: ScriptedModel::of(turns).unwrap(), agent: None }
    }

    /// Does its part, and says what came of it.
    async fn work(&self, part: &str) -> String {
        let agent = Arc::clone(self.agent.as_ref().unwrap());
        let order = RunOrder {
            agent,
            caller: Arc::new(Caller::local()),
            thread: vec![ThreadItem::user(part)],
            sources: Vec::new(),
            caller_tools: Vec::new(),
            choice: CallChoice::Free,
            waits_for_people: true,
        };
        let mut run = AgentRun::new(order);
        let RunPause::Ended(end) = run.go(&mut |_| {}, &CancellationToken::new()).await else {
            unreachable!("it waits for nobody")
        };
        end.text
    }

    /// What its model was shown in its first turn.
    fn shown(&self) -> Vec<String> {
        let name = |tool: &Value| tool["function"]["name"].as_str().unwrap().to_owned();
        let first = self.model.asked().remove(0).body;
        first["tools"].as_array().into_iter().flatten().map(name).collect()
    }

    /// What its model was told of the calls that it made.
    fn told(&self) -> Vec<String> {
        let last = self.model.asked().pop().unwrap().body;
        let messages = last["messages"].as_array().unwrap().iter();
        let results = messages.filter(|message| message["role"] == "tool");
        results.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
    }
}

impl AgentSystem for Supervisor {
    fn workers(&self) -> Vec<WorkerRole> {
        let role =
            |worker: &Worker| WorkerRole { name: worker.name.to_owned(), ..WorkerRole::default() };
        self.0.iter().map(role).collect()
    }

    fn equip(&mut self, view: WorkerView) {
        let worker = self.0.iter_mut().find(|worker| worker.name == view.name).unwrap();
        let url = worker.model.url().parse().unwrap();
        let settings = ModelSettings::new(ModelApi::OpenAiChat, url, "scripted");
        worker.agent = Some(Arc::new(Agent {
            name: view.name,
            description: String::new(),
            instructions: "Do your part.".to_owned(),
            model: Arc::new(ModelClient::new(settings).unwrap()),
            crib: view.crib,
            wishes: PlanRequest::default(),
            budget: Budget::default(),
            checks: CheckPolicy::default(),
            team: None,
        }));
    }
}

/// The file, with a server that reckons and one that looks things up; each writes down its calls.
fn mas_arena() -> Folder {
    let folder = Folder::new();
    let log = "open(\"called.log\", \"a\").write(asked[\"params\"][\"name\"] + \"\\n\")\n";
    let sum = "str(sum(asked[\"params\"][\"arguments\"][\"numbers\"]))";
    let found = "\"the answer is known to be \" + asked[\"params\"][\"arguments\"][\"words\"]";
    let reads = r#""readOnlyHint": True"#;
    for (name, tools, says) in [
        ("math", ["add", "solve_math"], script::says(sum)),
        ("search", ["search", "lookup"], script::says(found)),
    ] {
        let tools = tools.map(|tool| script::tool(tool, reads)).join(", ");
        let text = script::server("", &format!("[{tools}]"), &format!("{log}{says}"));
        folder.write(&format!("{name}_server.py"), &text);
    }
    folder.write(
        "mas.json",
        r#"{
  "math": { "command": "python3", "args": ["math_server.py"], "transport": "stdio" },
  "search": { "command": "python3", "args": ["search_server.py"], "transport": "stdio" },
  "tool_assignment": {
    "MathAgent": ["add", "solve_math"],
    "SearchAgent": ["search"]
  }
}"#,
    );
    folder
}

#[tokio::test]
async fn a_supervisor_has_the_tools_of_its_workers_bound_from_a_file_of_mas_arena() {
    let folder = mas_arena();
    let mut supervisor = Supervisor(vec![
        Worker::new(
            "MathAgent",
            [
                ScriptedTurn::call("add", json!({ "numbers": [19, 23] })),
                // It tries what belongs to the other.
                ScriptedTurn::call("search", json!({ "words": "42" })),
                ScriptedTurn::says("It is 42."),
            ],
        ),
        Worker::new(
            "SearchAgent",
            [
                ScriptedTurn::call("search", json!({ "words": "42" })),
                // What its server has, and the file does not give it.
                ScriptedTurn::call("lookup", json!({ "words": "42" })),
                ScriptedTurn::says("It is known."),
            ],
        ),
        Worker::new("Reasoner", [ScriptedTurn::says("I have nothing.")]),
    ]);
    let live = LiveConfig::open(folder.path().join("mas.json")).await.unwrap();
    let settings = BindSettings { rules: live.agent_rules(), ..BindSettings::default() };
    let bound = settings.bind(&mut supervisor, live.crib(), None).unwrap();
    assert_eq!(bound.warnings, ["`Reasoner` has no tool: none is assigned to it"]);
    assert_eq!(bound.unplaced.iter().map(ToolName::as_str).collect::<Vec<_>>(), ["lookup"]);

    let [math, search, reasoner] = &*supervisor.0 else { unreachable!("three workers") };
    let answers = [
        math.work("What is 19 and 23?").await,
        search.work("Is 42 known?").await,
        reasoner.work("Why?").await,
    ];
    assert_eq!(answers, ["It is 42.", "It is known.", "I have nothing."]);
    assert_eq!(math.shown(), ["add", "solve_math"]);
    assert_eq!(search.shown(), ["search"]);
    assert_eq!(reasoner.shown(), [""; 0]);
    let told = math.told();
    assert_eq!(told[0], "42");
    assert!(told[1].contains("there is no tool `search`"), "{told:?}");
    let told = search.told();
    assert_eq!(told[0], "the answer is known to be 42");
    assert!(told[1].contains("there is no tool `lookup`"), "{told:?}");
    // What was refused reached no server.
    let called = std::fs::read_to_string(folder.path().join("called.log")).unwrap();
    assert_eq!(called, "add\nsearch\n");
}
