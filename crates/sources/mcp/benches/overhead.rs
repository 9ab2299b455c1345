//! What a call through a source costs more than one through the SDK's own client.
//!
//! `cargo bench -p toolcrib-mcp`: both clients call the same server in turns, so that whatever else
//! the machine does meets both. The gate is measured too, with a tool that does nothing.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark stops where something is not as it should be"
)]

#[path = "../examples/fixture/server.rs"]
mod server;

use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::ServiceExt as _;
use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _, RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use toolcrib_child::{Child, Program};
use toolcrib_core::{
    AllowAll, Call, Caller, Effect, Plan, PlanRequest, RawArguments, Toolset, tool,
};
use toolcrib_egress::Network;
use toolcrib_engine::Crib;
use toolcrib_mcp::{
    HttpAuthorization, HttpSettings, McpEnvironment, McpSource, McpSourceSettings, McpTransport,
    StdioSettings,
};

const ROUNDS: usize = 30;
const CALLS: usize = 200;

fn main() {
    let words: Vec<_> = std::env::args().skip(1).collect();
    let has = |word: &str| words.iter().any(|own| own == word);
    let fixture = server::Fixture { legacy: has("legacy"), ..server::Fixture::default() };
    if has("serve-pipes") {
        return alone().block_on(async {
            let running = fixture.serve(rmcp::transport::stdio()).await.unwrap();
            running.waiting().await.unwrap();
        });
    }
    if has("serve-http") {
        return alone().block_on(async {
            let url = server::serve(fixture, !has("events")).await.unwrap();
            say(&url);
            std::future::pending::<()>().await;
        });
    }
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(compare());
}

fn alone() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

async fn compare() {
    let gate = gate();
    let mut times = Vec::new();
    for _ in 0..ROUNDS * CALLS {
        times.push(gate.time().await);
    }
    let gate = median(times);
    say(&format!("the gate alone, in us: {gate:.1}; each source is called through it"));
    let head = ["median of one call, in us", "SDK", "source", "more", "without gate"];
    say(&format!("{:28} {:>8} {:>8} {:>8} {:>13}", head[0], head[1], head[2], head[3], head[4]));
    for era in ["modern", "legacy"] {
        let bare = bare_pipes(era).await;
        let ours = ours(pipes(era)).await;
        report(&format!("pipes, {era}"), (&bare, &ours), gate).await;
    }
    for words in [["modern", "json"], ["modern", "events"], ["legacy", "json"]] {
        let (_server, url) = http(&words).await;
        let bare = bare_http(&url, words[0]).await;
        let ours = ours(over_http(&url)).await;
        report(&format!("HTTP, {} {}", words[0], words[1]), (&bare, &ours), gate).await;
    }
}

async fn report(name: &str, (bare, ours): (&Bare, &Ours), gate: f64) {
    let (mut sdk, mut source) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        for _ in 0..CALLS {
            let time = bare.time().await;
            if round > 0 {
                sdk.push(time);
            }
        }
        for _ in 0..CALLS {
            let time = ours.time().await;
            if round > 0 {
                source.push(time);
            }
        }
    }
    let (sdk, source) = (median(sdk), median(source));
    let more = source - sdk;
    say(&format!("{name:28} {sdk:>8.1} {source:>8.1} {more:>8.1} {:>13.1}", more - gate));
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e6
}

fn say(line: &str) {
    // Nobody may be reading any more.
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// A client of the SDK, as it comes.
struct Bare {
    client: RunningService<RoleClient, ()>,
    _child: Option<Child>,
}

impl Bare {
    async fn time(&self) -> Duration {
        let arguments = json!({"text": "hello"});
        let begun = Instant::now();
        let params = CallToolRequestParams::new("echo")
            .with_arguments(arguments.as_object().unwrap().clone());
        let result = self.client.call_tool(params).await.unwrap();
        assert_eq!(result.content.len(), 1);
        begun.elapsed()
    }
}

fn lifecycle(era: &str) -> ClientLifecycleMode {
    match era {
        "modern" => {
            ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::LATEST] }
        }
        _ => ClientLifecycleMode::Initialize,
    }
}

async fn bare_pipes(era: &str) -> Bare {
    let own = std::env::current_exe().unwrap();
    let mut child = Child::spawn(&Program::new(own, ["serve-pipes", era])).await.unwrap();
    let (stdin, stdout) = child.take_pipes().unwrap();
    let client = ().serve_with_lifecycle((stdout, stdin), lifecycle(era)).await.unwrap();
    Bare { client, _child: Some(child) }
}

async fn http(words: &[&str]) -> (Child, String) {
    let own = std::env::current_exe().unwrap();
    let words = ["serve-http"].into_iter().chain(words.iter().copied());
    let mut child = Child::spawn(&Program::new(own, words)).await.unwrap();
    let (_, stdout) = child.take_pipes().unwrap();
    let mut url = String::new();
    BufReader::new(stdout).read_line(&mut url).await.unwrap();
    (child, url.trim().to_owned())
}

async fn bare_http(url: &str, era: &str) -> Bare {
    let config = StreamableHttpClientTransportConfig::with_uri(url);
    let transport = StreamableHttpClientTransport::from_config(config);
    let client = ().serve_with_lifecycle(transport, lifecycle(era)).await.unwrap();
    Bare { client, _child: None }
}

/// A source behind the gate.
struct Ours {
    crib: Crib,
    plan: Plan,
}

impl Ours {
    fn new(crib: Crib) -> Self {
        let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
        Self { crib, plan }
    }

    async fn time(&self) -> Duration {
        let arguments = json!({"text": "hello"});
        let begun = Instant::now();
        let call = Call::new("1", "echo", RawArguments::Value(arguments));
        let report = self.crib.run(&self.plan, vec![call]).await;
        let took = begun.elapsed();
        assert!(report.responses[0].outcome.is_done(), "{:?}", report.responses);
        took
    }
}

fn pipes(era: &str) -> McpSourceSettings {
    McpSourceSettings::new(McpTransport::Stdio(StdioSettings {
        command: std::env::current_exe().unwrap(),
        arguments: vec!["serve-pipes".to_owned(), era.to_owned()],
        environment: Vec::new(),
        folder: None,
    }))
}

fn over_http(url: &str) -> McpSourceSettings {
    McpSourceSettings::new(McpTransport::Http(Box::new(HttpSettings {
        url: url.parse().unwrap(),
        headers: Vec::new(),
        authorization: HttpAuthorization::None,
        network: Network::default(),
    })))
}

async fn ours(settings: McpSourceSettings) -> Ours {
    let source = McpSource::new("far", settings, McpEnvironment::default());
    Ours::new(Crib::builder().policy(AllowAll).source("far", source).build().await)
}

fn gate() -> Ours {
    let echo = |arguments: Value| async move { Ok(arguments) };
    let echo = tool("echo", "Gives back.", Effect::Destroy, echo).unwrap();
    let toolset = Toolset::of([Arc::clone(&echo)]).unwrap();
    Ours::new(Crib::builder().policy(AllowAll).build_fixed(toolset))
}
