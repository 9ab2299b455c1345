//! How messages come and go behind the relay: a message is a line.

use std::sync::Arc;

use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWrite};
use tokio::sync::mpsc::unbounded_channel;

use super::answers;
use super::request::{FixtureRequest, is_modern};
use super::state::{FixtureOutput, FixtureState, SeenMessage};

/// Bytes of a line.
const MOST_LINE: u64 = 64 << 20;

/// Serves until either side ends.
pub(super) async fn serve(
    reader: &mut (impl AsyncBufRead + Unpin),
    writer: &mut (impl AsyncWrite + Unpin),
    state: &Arc<FixtureState>,
) {
    let place = state.name("pipe");
    let (output, mut outputs) = unbounded_channel();
    let reading = async {
        loop {
            let mut line = String::new();
            let count = (&mut *reader).take(MOST_LINE).read_line(&mut line).await;
            if !count.is_ok_and(|count| count > 0) {
                return;
            }
            let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
            let text = line.trim_end().to_owned();
            let seen = SeenMessage {
                place: place.clone(),
                head: String::new(),
                message: message.clone(),
                text,
            };
            state.note(seen);
            if answers::take_without_answer(state, &place, &message) {
                continue;
            }
            if message["method"] == "initialize" {
                state.listens(&place, None, &output);
            }
            let is_modern = is_modern(&message);
            let (place, output, state) = (place.clone(), output.clone(), Arc::clone(state));
            let request =
                FixtureRequest { place, message, is_modern, is_piped: true, output, state };
            tokio::spawn(answers::answer(request));
        }
    };
    let writing = async {
        while let Some(output) = outputs.recv().await {
            let line = match output {
                FixtureOutput::Message(message) => message.to_string(),
                FixtureOutput::Raw(raw) => raw,
                FixtureOutput::Close => return,
            };
            if writer.write_all(format!("{line}\n").as_bytes()).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = reading => {}
        () = writing => {}
    }
}
