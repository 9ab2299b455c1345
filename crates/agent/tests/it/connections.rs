//! The connections to a model.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use toolcrib_agent::model::{ModelApi, ModelClient, ModelSettings};
use url::Url;

use crate::fixture::answered;

const ANSWER: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Yes.\"},\
                      \"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

/// A model that keeps its connections open, and counts them; the end of an answer comes with its
/// last event, or never.
fn lasting(ends: bool) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        for line in listener.incoming() {
            counted.fetch_add(1, Ordering::SeqCst);
            // It ends when the client hangs up.
            std::thread::spawn(move || serve(line.unwrap(), ends));
        }
    });
    (url, count)
}

fn serve(mut line: TcpStream, ends: bool) -> std::io::Result<()> {
    let mut reader = BufReader::new(line.try_clone()?);
    loop {
        let mut length = 0;
        loop {
            let mut header = String::new();
            if reader.read_line(&mut header)? == 0 {
                return Ok(());
            }
            let header = header.trim().to_ascii_lowercase();
            if let Some(said) = header.strip_prefix("content-length:") {
                length = said.trim().parse().unwrap();
            }
            if header.is_empty() {
                break;
            }
        }
        reader.read_exact(&mut vec![0; length])?;
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
        let chunk = format!("{:x}\r\n{ANSWER}\r\n", ANSWER.len());
        let end = if ends { "0\r\n\r\n" } else { "" };
        let body = format!("{head}transfer-encoding: chunked\r\n\r\n{chunk}{end}");
        line.write_all(body.as_bytes())?;
    }
}

async fn ask_thrice(ends: bool) -> usize {
    let (url, count) = lasting(ends);
    let url = Url::parse(&url).unwrap();
    let client = ModelClient::new(ModelSettings::new(ModelApi::OpenAiChat, url, "m")).unwrap();
    for _ in 0..3 {
        let (answer, ..) = answered(&client, &[]).await;
        assert_eq!(answer.unwrap().text, "Yes.");
    }
    count.load(Ordering::SeqCst)
}

#[tokio::test]
async fn the_turns_of_a_run_are_asked_over_one_connection() {
    assert_eq!(ask_thrice(true).await, 1);
}

#[tokio::test]
async fn a_server_that_leaves_an_answer_open_is_not_waited_for() {
    assert_eq!(ask_thrice(false).await, 3);
}
