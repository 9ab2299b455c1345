//! What a message takes: to the server of the SDK and to ours, by the client of the SDK and as
//! bytes, and through a source of ours.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::agents::endpoint::{EndpointClient, configuration};
use crate::agents::model::{DONE, LoadModel};
use crate::figures::{median, round};
use crate::test_bed::{MeasuredPrograms, TestBed};
use crate::{LoadError, LoadTarget, MeasuredProgram};

const SDK: &str = include_str!("sdk.py");
/// How long a source may take to come up.
const PATIENCE: Duration = Duration::from_mins(1);

pub(super) async fn messages(
    programs: &MeasuredPrograms,
    below: &Path,
    python: &Path,
    rounds: usize,
) -> Result<Value, LoadError> {
    let model = LoadModel::start()?;
    let place = TestBed::new(programs, below)?;
    fs::write(place.folder().join("sdk.py"), SDK)?;
    let url = format!("http://{}/v1", model.address);
    let mut sdk = MeasuredProgram::start(python, &["sdk.py", "serve", &url], place.folder())?;
    let sdk_url = sdk.line()?;
    let source = format!(
        "allow = [\"*\"]\n\n[[source]]\nid = \"load\"\na2a = {{ card = \"{sdk_url}\" }}\n\n\
         [tool.load__ask]\neffect = \"read\"\n\n"
    );
    let (_server, target) = place.forgetful(&format!("{source}{}", configuration(&model)))?;
    let by_sdk =
        by_the_sdk(python, &place, rounds, [&sdk_url, &format!("http://{}", target.address)])?;
    let sdk_target =
        LoadTarget { address: sdk_url.trim_start_matches("http://").to_owned(), token: None };
    let mut ours = EndpointClient::open_agent(&target).await?;
    until_there(&mut ours).await?;
    let mut direct = EndpointClient::open(&sdk_target).await?;
    let mut times: [Vec<f64>; 3] = Default::default();
    for number in 0..=rounds {
        let took = [
            message(&mut direct, "/rpc", number).await?,
            message(&mut ours, "/a2a/assistant", number).await?,
            through(&mut ours, number).await?,
        ];
        // The first round warms up.
        for (times, took) in times.iter_mut().zip(took).filter(|_| number > 0) {
            times.push(took.as_secs_f64() * 1e6);
        }
    }
    let [direct, served, through] = times.map(|times| round(median(times)));
    Ok(json!({
        "by_sdk": by_sdk,
        "bytes": { "direct_us": direct, "ours_us": served },
        "through_source_us": through,
    }))
}

/// What the client of the SDK measures of the agents at both places.
fn by_the_sdk(
    python: &Path,
    place: &TestBed,
    rounds: usize,
    [sdk, ours]: [&str; 2],
) -> Result<Value, LoadError> {
    let rounds = rounds.to_string();
    let words = ["-W", "ignore", "sdk.py", "ask", &rounds, sdk, "", ours, ""];
    let mut client = MeasuredProgram::start(python, &words, place.folder())?;
    let told: Value = serde_json::from_str(&client.line()?)?;
    Ok(json!({ "direct": told.get(0), "ours": told.get(1) }))
}

async fn until_there(client: &mut EndpointClient) -> Result<(), LoadError> {
    let last = Instant::now() + PATIENCE;
    while !client.ask("GET", "/v1/tools", "").await?.to_string().contains("\"load__ask\"") {
        if Instant::now() > last {
            return Err("the agent of the SDK did not become a tool".into());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

/// A message as bytes.
async fn message(
    client: &mut EndpointClient,
    path: &str,
    number: usize,
) -> Result<Duration, LoadError> {
    let message = json!({ "messageId": format!("m-{number}"), "role": "ROLE_USER",
        "parts": [{ "text": "hello" }] });
    let body = json!({ "jsonrpc": "2.0", "id": number, "method": "SendMessage",
        "params": { "message": message } });
    whole(client, path, &body).await
}

/// A message that a source of ours sends for a call.
async fn through(client: &mut EndpointClient, number: usize) -> Result<Duration, LoadError> {
    let arguments = json!({ "message": format!("hello {number}") });
    let body = json!({ "calls": [{ "name": "load__ask", "arguments": arguments }] });
    whole(client, "/v1/calls", &body).await
}

async fn whole(
    client: &mut EndpointClient,
    path: &str,
    body: &Value,
) -> Result<Duration, LoadError> {
    let body = body.to_string();
    let begun = Instant::now();
    let told = client.ask("POST", path, &body).await?;
    let took = begun.elapsed();
    if told.to_string().contains(DONE) {
        return Ok(took);
    }
    Err(format!("`{path}` does not give the answer: {told}").into())
}
