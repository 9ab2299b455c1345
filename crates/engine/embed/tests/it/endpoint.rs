//! An endpoint, against servers that keep to the protocol and servers that do not.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use toolcrib_core::Secret;
use toolcrib_embed::{EndpointEmbedder, EndpointSettings, Prefixes};
use toolcrib_search::{EmbedError, EmbedPurpose, Embedder as _, Vector};

/// What a server answers to a request, given what it was asked.
type Answer = Box<dyn Fn(usize, &Value) -> Vec<u8> + Send + Sync>;

/// A server on this machine, and all that it was asked: the head and the body of each request.
struct Server {
    base: String,
    asked: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Server {
    async fn new(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let asked = Arc::<Mutex<Vec<(String, Value)>>>::default();
        let noted = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (head, body) = request(&mut stream).await;
                let number = {
                    let mut noted = noted.lock().unwrap();
                    noted.push((head, body.clone()));
                    noted.len() - 1
                };
                // Who asked may have gone away by now.
                let _ = stream.write_all(&answer(number, &body)).await;
                let _ = stream.shutdown().await;
            }
        });
        Self { base, asked }
    }

    fn settings(&self) -> EndpointSettings {
        EndpointSettings::new(self.base.parse().unwrap(), "small")
    }

    fn bodies(&self) -> Vec<Value> {
        self.asked.lock().unwrap().iter().map(|(_, body)| body.clone()).collect()
    }
}

async fn request(stream: &mut TcpStream) -> (String, Value) {
    let mut bytes = Vec::new();
    loop {
        let mut chunk = [0; 4096];
        let read = stream.read(&mut chunk).await.unwrap();
        bytes.extend_from_slice(&chunk[..read]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let head = head.to_lowercase();
        let length = head.split("content-length: ").nth(1).unwrap().lines().next().unwrap();
        if body.len() >= length.parse().unwrap() {
            return (head, serde_json::from_str(body).unwrap());
        }
    }
}

fn answer(status: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}"
    )
    .into_bytes()
}

fn ok(body: &Value) -> Vec<u8> {
    answer("200 OK", "", &body.to_string())
}

/// A direction for a text by its first letter: `a` is east, `b` is north.
fn vector(text: &Value) -> [f32; 2] {
    if text.as_str().unwrap().starts_with('b') { [0.0, 5.0] } else { [3.0, 0.0] }
}

/// A server that keeps to the protocol, and gives its vectors in the wrong order.
fn honest(_: usize, asked: &Value) -> Vec<u8> {
    let texts = asked["input"].as_array().unwrap();
    let item = |(index, text): (usize, &Value)| json!({"object": "embedding", "index": index, "embedding": vector(text)});
    let mut data: Vec<Value> = texts.iter().enumerate().map(item).collect();
    data.reverse();
    ok(&json!({"object": "list", "data": data, "model": "small", "usage": {"total_tokens": 1}}))
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn directions(vectors: &[Vector]) -> String {
    vectors
        .iter()
        .map(|it| {
            if **it == [1.0, 0.0] {
                'a'
            } else if **it == [0.0, 1.0] {
                'b'
            } else {
                '?'
            }
        })
        .collect()
}

/// One text asked of a server with one answer: what is said of it, and how often it was asked.
async fn told(
    answer: impl Fn(usize, &Value) -> Vec<u8> + Send + Sync + 'static,
) -> (String, usize) {
    let server = Server::new(Box::new(answer)).await;
    let mut settings = server.settings();
    settings.deadline = Duration::from_secs(1);
    let endpoint = EndpointEmbedder::new(settings).unwrap();
    let error = endpoint.embed(EmbedPurpose::Query, &texts(&["a"])).await.unwrap_err();
    let asked = server.bodies().len();
    (said(&error).replace(&server.base, "BASE"), asked)
}

fn said(error: &EmbedError) -> String {
    let cause = error.source.as_ref().map(|cause| format!(" ({cause})"));
    format!("{error}{}", cause.unwrap_or_default())
}

#[tokio::test]
async fn vectors_come_in_the_order_of_the_texts_and_with_length_one() {
    let server = Server::new(Box::new(honest)).await;
    let mut settings = server.settings();
    settings.batch = 3;
    settings.key = Some(Secret::new("sk-1"));
    settings.dimensions = Some(2);
    settings.prefixes = Prefixes { query: String::new(), tool: "b: ".to_owned() };
    let endpoint = EndpointEmbedder::new(settings).unwrap();
    let asked = texts(&["a", "b", "b", "a", "b"]);
    let vectors = endpoint.embed(EmbedPurpose::Query, &asked).await.unwrap();
    assert_eq!(directions(&vectors), "abbab");
    let vectors = endpoint.embed(EmbedPurpose::Tool, &texts(&["a"])).await.unwrap();
    assert_eq!(directions(&vectors), "b");
    let body = |input: &[&str]| json!({"model": "small", "input": input, "encoding_format": "base64", "dimensions": 2});
    assert_eq!(server.bodies(), [body(&["a", "b", "b"]), body(&["a", "b"]), body(&["b: a"])]);
    let (head, _) = server.asked.lock().unwrap()[0].clone();
    assert!(head.starts_with("post /v1/embeddings http/1.1\r\n"), "{head}");
    assert!(head.contains("\r\nauthorization: bearer sk-1\r\n"), "{head}");
}

#[tokio::test]
async fn packed_vectors_are_read_and_a_server_without_them_is_asked_plainly_from_then_on() {
    let packed = Server::new(Box::new(|_, _| {
        // 3.0 and 0.0, with their lowest byte first.
        ok(&json!({"data": [{"index": 0, "embedding": "AABAQAAAAAA="}]}))
    }));
    let endpoint = EndpointEmbedder::new(packed.await.settings()).unwrap();
    let vectors = endpoint.embed(EmbedPurpose::Query, &texts(&["a"])).await.unwrap();
    assert_eq!(directions(&vectors), "a");

    let plain = Server::new(Box::new(|number, asked| match asked["encoding_format"].as_str() {
        Some("float") => honest(number, asked),
        _ => answer("400 Bad Request", "", r#"{"error": {"message": "unknown format"}}"#),
    }));
    let plain = plain.await;
    let endpoint = EndpointEmbedder::new(plain.settings()).unwrap();
    for _ in 0..2 {
        let vectors = endpoint.embed(EmbedPurpose::Query, &texts(&["b"])).await.unwrap();
        assert_eq!(directions(&vectors), "b");
    }
    let forms: Vec<_> = plain.bodies().iter().map(|body| body["encoding_format"].clone()).collect();
    assert_eq!(forms, ["base64", "float", "float"]);
}

#[tokio::test]
async fn a_busy_server_is_asked_again_after_the_time_it_names() {
    let server = Server::new(Box::new(|number, asked| match number {
        0 => answer("429 Too Many Requests", "retry-after: 1\r\n", "{}"),
        1 => answer("503 Service Unavailable", "", "busy"),
        _ => honest(number, asked),
    }));
    let server = server.await;
    let endpoint = EndpointEmbedder::new(server.settings()).unwrap();
    let begun = Instant::now();
    let vectors = endpoint.embed(EmbedPurpose::Query, &texts(&["a"])).await.unwrap();
    assert_eq!((directions(&vectors).as_str(), server.bodies().len()), ("a", 3));
    assert!(begun.elapsed() >= Duration::from_secs(1), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_server_that_is_busy_beyond_the_deadline_is_not_waited_for() {
    let begun = Instant::now();
    let busy = |_: usize, _: &Value| answer("429 Too Many Requests", "retry-after: 3600\r\n", "");
    assert_eq!(
        told(busy).await,
        (
            "`BASE/embeddings` refuses to make embeddings of `small` (429 Too Many Requests)"
                .to_owned(),
            1
        )
    );
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn what_a_server_refuses_is_told_with_the_cure_and_without_the_key() {
    let server = Server::new(Box::new(|_, _| {
        answer("401 Unauthorized", "", r#"{"error": {"message": "no such key: sk-1\u0007"}}"#)
    }));
    let mut settings = server.await.settings();
    settings.key = Some(Secret::new("sk-1"));
    let base = settings.base.clone();
    let error =
        EndpointEmbedder::new(settings).unwrap().embed(EmbedPurpose::Query, &texts(&["a"])).await;
    assert_eq!(
        said(&error.unwrap_err()),
        format!(
            "`{base}/embeddings` refuses the key of the embeddings (401 Unauthorized): set another \
             (no such key: [secret])"
        )
    );
    let absent = told(|_, _| answer("404 Not Found", "", r#"{"detail": "Not Found"}"#)).await;
    assert_eq!(
        absent.0,
        "`BASE/embeddings` has no embeddings of `small` (404 Not Found): check the address, which \
         ends before `/embeddings`, and the model (Not Found)"
    );
}

#[tokio::test]
async fn answers_that_are_no_vectors_are_refused() {
    for (data, wrong) in [
        (json!([]), "0 vectors for 1 texts"),
        (json!([{"embedding": [1]}, {"embedding": [1]}]), "2 vectors for 1 texts"),
        (json!([{"index": 1, "embedding": [1]}]), "its vectors are not numbered from 0 on"),
        (
            json!([{"index": 0, "embedding": [0, 0]}]),
            "a vector holds what is no number, or nothing but zeros",
        ),
        (
            json!([{"index": 0, "embedding": [1e300, 1]}]),
            "a vector holds what is no number, or nothing but zeros",
        ),
        (
            // Two bytes `7f` would make it infinite.
            json!([{"index": 0, "embedding": "AADAfw=="}]),
            "a vector holds what is no number, or nothing but zeros",
        ),
        (json!([{"index": 0, "embedding": "AAAA"}]), "a packed vector ends within a number"),
    ] {
        let body = json!({"data": data});
        let expected = format!("`BASE/embeddings` answers with no embeddings: {wrong}");
        assert_eq!(told(move |_, _| ok(&body)).await, (expected, 1));
    }
    for body in
        [r#"{"data": [{"embedding": [NaN]}]}"#, r#"{"data": [{"embedding": [null]}]}"#, "[", "{}"]
    {
        let (error, asked) = told(move |_, _| answer("200 OK", "", body)).await;
        assert!(error.starts_with("`BASE/embeddings` answers with no embeddings: "), "{error}");
        assert_eq!(asked, 1);
    }
}

#[tokio::test]
async fn a_model_that_changes_its_width_is_told() {
    let server = Server::new(Box::new(|number, _| {
        ok(&json!({"data": [{"index": 0, "embedding": vec![1; number + 2]}]}))
    }));
    let endpoint = EndpointEmbedder::new(server.await.settings()).unwrap();
    endpoint.embed(EmbedPurpose::Query, &texts(&["a"])).await.unwrap();
    let error = endpoint.embed(EmbedPurpose::Query, &texts(&["a"])).await.unwrap_err();
    assert!(error.message.contains("a vector has 3 entries instead of 2"), "{error}");
}

#[tokio::test]
async fn an_answer_that_is_cut_off_too_large_or_too_slow_ends_in_an_error() {
    let cut = |_: usize, _: &Value| {
        let mut whole = ok(&json!({"data": [{"index": 0, "embedding": [1, 0]}]}));
        whole.truncate(whole.len() - 5);
        whole
    };
    let (error, asked) = told(cut).await;
    assert!(error.starts_with("`BASE/embeddings` gives no embeddings ("), "{error}");
    assert!(asked > 1, "a broken line is tried again");

    let huge = |_: usize, _: &Value| answer("200 OK", "", &" ".repeat(1024 * 1024));
    let (error, asked) = told(huge).await;
    assert!(error.contains("is larger than 196608 bytes") && asked == 1, "{error}");

    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/v1", silent.local_addr().unwrap());
    let mut settings = EndpointSettings::new(base.parse().unwrap(), "small");
    settings.deadline = Duration::from_millis(200);
    let begun = Instant::now();
    let error =
        EndpointEmbedder::new(settings).unwrap().embed(EmbedPurpose::Query, &texts(&["a"])).await;
    assert!(error.unwrap_err().message.ends_with("gives no embeddings"));
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn long_and_empty_texts_are_sent_as_servers_take_them() {
    let server = Server::new(Box::new(honest)).await;
    let endpoint = EndpointEmbedder::new(server.settings()).unwrap();
    let mut asked = vec![String::new(), "ä".repeat(9000)];
    asked.extend(vec!["b".repeat(8000); 40]);
    let vectors = endpoint.embed(EmbedPurpose::Tool, &asked).await.unwrap();
    assert_eq!(vectors.len(), 42);
    let sent: Vec<Vec<usize>> = server
        .bodies()
        .iter()
        .map(|body| {
            body["input"]
                .as_array()
                .unwrap()
                .iter()
                .map(|it| it.as_str().unwrap().chars().count())
                .collect()
        })
        .collect();
    assert_eq!(sent[0][..2], [1, 8000]);
    assert_eq!(sent.iter().map(Vec::len).collect::<Vec<_>>(), [32, 10]);
}

#[test]
fn an_address_that_nobody_can_ask_is_told_at_the_start() {
    let settings = EndpointSettings::new("ftp://example.com/v1".parse().unwrap(), "small");
    let error = EndpointEmbedder::new(settings).err().unwrap();
    assert!(error.message.contains("cannot be reached"), "{error}");
}
