//! Requests of ours against Prism, a mock server of another house that validates each of them.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use toolcrib_core::{AllowAll, Call, Caller, PlanRequest, RawArguments, SourceId};
use toolcrib_engine::Crib;
use toolcrib_openapi::{ApiSettings, ApiSource, Credential, DocumentLocation};
use toolcrib_testkit::{SampleFilling, TestFolder, sample};

fn data(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/data").join(path)
}

/// A document out of its archive.
fn unpacked(path: &str, folder: &TestFolder) -> PathBuf {
    let packed = std::fs::File::open(data(path)).unwrap();
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut text).unwrap();
    folder.write("api.json", text)
}

/// What the mock writes, in its folder.
const LOG: &str = "prism.log";

/// A running mock of one document, and what it writes about the requests it gets.
struct Prism {
    process: Child,
    port: u16,
    folder: TestFolder,
}

impl Prism {
    /// `None`, and a word about it, where Node or the package is not installed.
    fn start(document: &Path) -> Option<Self> {
        let (node, modules) = (peer("TOOLCRIB_NODE"), peer("TOOLCRIB_NODE_PEERS"));
        let (Some(node), Some(modules)) = (node, modules) else {
            let out = &mut std::io::stdout();
            writeln!(out, "[skipped] TOOLCRIB_NODE_PEERS names no folder with prism-cli").unwrap();
            return None;
        };
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let folder = TestFolder::new();
        let file = std::fs::File::create(folder.path().join(LOG)).unwrap();
        #[expect(clippy::disallowed_methods, reason = "the mock is a program")]
        let process = Command::new(node)
            .arg(modules.join("@stoplight/prism-cli/dist/index.js"))
            .args(["mock", "--errors", "--host", "127.0.0.1", "--port", &port.to_string()])
            .arg(document)
            .env("NO_COLOR", "1")
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let prism = Self { process, port, folder };
        let until = Instant::now() + Duration::from_mins(2);
        while !prism.says().contains("Prism is listening") {
            assert!(Instant::now() < until, "Prism did not start:\n{}", prism.says());
            std::thread::sleep(Duration::from_millis(100));
        }
        Some(prism)
    }

    fn says(&self) -> String {
        std::fs::read_to_string(self.folder.path().join(LOG)).unwrap()
    }

    /// What it said of each request, in their order: nothing, or why it does not accept it.
    fn verdicts(&self) -> Vec<Option<String>> {
        let said = self.says();
        let requests = said.split("Request received").skip(1);
        let refusals = |said: &str| {
            let lines = said.lines().filter(|line| line.contains("error     Request"));
            let refused = lines.map(str::to_owned).collect::<Vec<_>>().join("; ");
            let passed = said.contains("The request passed the validation rules");
            (!passed).then_some(refused)
        };
        requests.map(refusals).collect()
    }
}

impl Drop for Prism {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "the test run says where it installed its peers")]
fn peer(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from)
}

/// Calls `count` operations, spread over the whole document, with arguments made from their
/// schemas, and gives what was not accepted.
async fn refused(document: &Path, count: usize, filling: SampleFilling) -> Option<Vec<String>> {
    let prism = Prism::start(document)?;
    let mut settings = ApiSettings::new(DocumentLocation::File(document.to_owned()));
    settings.base_url = format!("http://127.0.0.1:{}", prism.port).parse().ok();
    let secret = toolcrib_core::Secret::new("a-secret-of-a-test");
    settings.credentials.insert("*".to_owned(), Credential::Bearer(secret));
    let crib = Crib::builder()
        .source_within(
            "api",
            ApiSource::new(SourceId::new("api"), settings),
            Duration::from_mins(1),
        )
        .policy(AllowAll)
        .build()
        .await;
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let tools: Vec<_> = plan.tools().map(|tool| tool.listed.spec.clone()).collect();
    assert!(tools.len() >= count, "only {} tools: {:?}", tools.len(), crib.sources());
    let step = tools.len() / count;
    let mut called = Vec::new();
    for spec in tools.iter().step_by(step.max(1)).take(count) {
        let arguments = sample(&spec.input.value(), filling);
        let said = format!("{} {arguments}", spec.name);
        let call = Call::new("1", spec.name.as_str(), RawArguments::Value(arguments));
        let report = crib.run(&plan, vec![call]).await;
        let Some(response) = report.responses.first() else { continue };
        called.push((said, response.debug.attempts, response.text()));
    }
    let verdicts = prism.verdicts();
    let requests: u32 = called.iter().map(|(_, attempts, _)| attempts).sum();
    let mut verdicts = verdicts.into_iter();
    let mut refused = Vec::new();
    for (said, attempts, answer) in called {
        let short: String = answer.chars().take(200).collect();
        match attempts {
            0 => refused.push(format!("{said}: not sent: {short}")),
            // Each attempt is a request, and the same one.
            attempts => {
                let last = verdicts.by_ref().take(attempts as usize).last();
                let why = last.unwrap_or_else(|| Some(format!("{requests} were sent")));
                refused.extend(why.map(|why| format!("{said}: {why}: {short}")));
            }
        }
    }
    Some(refused)
}

#[tokio::test]
async fn a_mock_accepts_a_request_for_each_operation_of_petstore() {
    for filling in [SampleFilling::Least, SampleFilling::More] {
        let Some(refused) = refused(&data("openapi/petstore3.yaml"), 19, filling).await else {
            return;
        };
        assert_eq!(refused, Vec::<String>::new(), "{filling:?}");
    }
}

#[tokio::test]
async fn a_mock_accepts_requests_for_operations_spread_over_a_large_document() {
    let folder = TestFolder::new();
    let document = unpacked("openapi/github-api.github.com.json.gz", &folder);
    let Some(refused) = refused(&document, 200, SampleFilling::Least).await else { return };
    assert_eq!(refused, Vec::<String>::new());
}
