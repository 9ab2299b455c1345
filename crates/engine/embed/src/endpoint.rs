//! A model somewhere else, behind `/v1/embeddings` as `OpenAI` made it and many servers speak it.
//!
//! The protocol: <https://platform.openai.com/docs/api-reference/embeddings/create>.

mod batch;
mod response;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use http::{Method, StatusCode};
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep};
use toolcrib_core::Secret;
use toolcrib_egress::{
    Egress, EgressBody, EgressErrorKind, EgressRequest, EgressResponse, EgressTimeouts, Network,
};
use toolcrib_search::{EmbedError, EmbedPurpose, Embedder, Vector};
use url::Url;

use self::batch::{TextBatches, presentable};
use crate::prefixes::Prefixes;
use crate::{EmbedFuture, failed, refused};
pub(crate) use response::vectors;
use response::{WrongEmbeddings, explain};

/// How often one batch is sent.
const MOST_TRIES: u32 = 5;
/// Before the second try, if the server does not say; then twice as long each time.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// Largest answer that is no vectors, in bytes.
const LARGEST_REFUSAL: u64 = 64 * 1024;
/// Largest answer for each text, in bytes: 8,192 numbers of 16 letters.
const LARGEST_VECTOR: u64 = 128 * 1024;

/// Where the model is and how to ask it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointSettings {
    /// What stands before `/embeddings`: `https://api.openai.com/v1`.
    pub base: Url,
    /// As the server names it.
    pub model: String,
    /// Sent as a bearer token.
    pub key: Option<Secret>,
    /// Entries of a vector, for models that can give fewer; `None`: as many as they give.
    pub dimensions: Option<usize>,
    pub prefixes: Prefixes,
    /// Texts in one request; a request is also no longer than 256 KiB.
    pub batch: usize,
    /// For one request, with all that it is tried again.
    pub deadline: Duration,
}

impl EndpointSettings {
    /// A server without a key, asked for 64 texts at once and waited for half a minute.
    pub fn new(base: Url, model: impl Into<String>) -> Self {
        Self {
            base,
            model: model.into(),
            key: None,
            dimensions: None,
            prefixes: Prefixes::default(),
            batch: 64,
            deadline: Duration::from_secs(30),
        }
    }
}

/// A model behind an address, the only one that it reaches.
pub struct EndpointEmbedder {
    settings: EndpointSettings,
    url: Url,
    headers: HeaderMap,
    egress: Egress,
    name: String,
    /// Entries of the first vector; a model that changes them is another model.
    width: OnceLock<usize>,
    /// Whether the server does not know the packed form.
    is_plain: AtomicBool,
}

/// Why one try gave nothing.
enum EndpointFailure {
    /// It would be the same again.
    Final(EmbedError),
    /// The packed form may be to blame.
    Form(EmbedError),
    /// It may be better after a while, for which the server may have named its time.
    Passing(EmbedError, Option<Duration>),
}

impl EndpointEmbedder {
    /// Nothing is sent yet.
    pub fn new(settings: EndpointSettings) -> Result<Self, EmbedError> {
        let mut url = settings.base.clone();
        url.set_path(&format!("{}/embeddings", settings.base.path().trim_end_matches('/')));
        let egress = Egress::only([url.clone()], Network::default());
        let egress = egress.and_then(|egress| egress.check(&url).map(|()| egress));
        let egress = egress.map_err(|cause| {
            failed(format!("the embeddings of `{}` cannot be reached", place(&url)), cause)
        })?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(key) = &settings.key {
            let value = HeaderValue::from_str(&format!("Bearer {}", key.expose()));
            let value = value.map_err(|cause| {
                failed("the key of the embeddings has signs that no header can carry", cause)
            })?;
            headers.insert(AUTHORIZATION, value);
        }
        let name = name(&settings, &url);
        let (width, is_plain) = (OnceLock::new(), AtomicBool::new(false));
        Ok(Self { settings, url, headers, egress, name, width, is_plain })
    }

    async fn all(
        &self,
        purpose: EmbedPurpose,
        texts: &[String],
    ) -> Result<Vec<Vector>, EmbedError> {
        let present = |text: &String| presentable(self.settings.prefixes.before(purpose, text));
        let texts: Vec<String> = texts.iter().map(present).collect();
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in TextBatches::new(&texts, self.settings.batch) {
            vectors.extend(self.batch(batch).await?);
        }
        Ok(vectors)
    }

    /// One request, again where that may help, until the deadline.
    async fn batch(&self, texts: &[String]) -> Result<Vec<Vector>, EmbedError> {
        let end = Instant::now() + self.settings.deadline.min(Duration::from_hours(24));
        let mut is_plain = self.is_plain.load(Ordering::Relaxed);
        let mut pause = FIRST_PAUSE;
        let mut tried = 0;
        loop {
            tried += 1;
            let left = end.saturating_duration_since(Instant::now());
            let (error, wait) = match self.once(texts, is_plain, left).await {
                Ok(vectors) => {
                    self.is_plain.store(is_plain, Ordering::Relaxed);
                    return Ok(vectors);
                }
                Err(EndpointFailure::Form(_)) if !is_plain => {
                    is_plain = true;
                    continue;
                }
                Err(EndpointFailure::Final(error) | EndpointFailure::Form(error)) => {
                    return Err(error);
                }
                Err(EndpointFailure::Passing(error, wait)) => (error, wait.unwrap_or(pause)),
            };
            // A server that is busy for longer than anybody waits is told of at once.
            if tried >= MOST_TRIES || Instant::now() + wait >= end {
                return Err(error);
            }
            sleep(wait).await;
            pause *= 2;
        }
    }

    async fn once(
        &self,
        texts: &[String],
        is_plain: bool,
        left: Duration,
    ) -> Result<Vec<Vector>, EndpointFailure> {
        let timeouts =
            EgressTimeouts { first_byte: left, total: left, ..EgressTimeouts::default() };
        let request = EgressRequest {
            headers: self.headers.clone(),
            body: EgressBody::Bytes(self.body(texts, is_plain).into()),
            timeouts,
            ..EgressRequest::new(Method::POST, self.url.clone())
        };
        let unanswered = |cause: toolcrib_egress::EgressError| {
            let helps =
                matches!(cause.kind, EgressErrorKind::NotConnected | EgressErrorKind::Broken);
            let error = failed(format!("`{}` gives no embeddings", place(&self.url)), cause);
            if helps {
                EndpointFailure::Passing(error, None)
            } else {
                EndpointFailure::Final(error)
            }
        };
        let response = self.egress.send(request).await.map_err(unanswered)?;
        if response.status != StatusCode::OK {
            return Err(self.refusal(response).await);
        }
        let most = u64::try_from(texts.len()).unwrap_or(u64::MAX).saturating_mul(LARGEST_VECTOR);
        let bytes = response.bytes(most.saturating_add(LARGEST_REFUSAL)).await;
        let bytes = bytes.map_err(unanswered)?;
        let read = vectors(&bytes, texts.len(), self.settings.dimensions);
        let read = read.and_then(|vectors| self.same_width(vectors));
        read.map_err(|wrong| {
            let what = format!("`{}` answers with no embeddings: {wrong}", place(&self.url));
            EndpointFailure::Final(refused(what))
        })
    }

    fn body(&self, texts: &[String], is_plain: bool) -> Vec<u8> {
        let mut body = Map::new();
        body.insert("model".to_owned(), json!(self.settings.model));
        body.insert("input".to_owned(), json!(texts));
        // A third of the size, and quicker to read; some servers know only the plain form.
        let form = if is_plain { "float" } else { "base64" };
        body.insert("encoding_format".to_owned(), json!(form));
        if let Some(dimensions) = self.settings.dimensions {
            body.insert("dimensions".to_owned(), json!(dimensions));
        }
        Value::Object(body).to_string().into_bytes()
    }

    fn same_width(&self, vectors: Vec<Vector>) -> Result<Vec<Vector>, WrongEmbeddings> {
        let Some(first) = vectors.first() else { return Ok(vectors) };
        let width = *self.width.get_or_init(|| first.len());
        if first.len() == width {
            return Ok(vectors);
        }
        Err(WrongEmbeddings::Width { expected: width, got: first.len() })
    }

    async fn refusal(&self, response: EgressResponse) -> EndpointFailure {
        let (status, wait) = (response.status, pause_of(&response.headers));
        let (place, model) = (place(&self.url), &self.settings.model);
        let message = match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                format!("`{place}` refuses the key of the embeddings ({status}): set another")
            }
            StatusCode::NOT_FOUND => format!(
                "`{place}` has no embeddings of `{model}` ({status}): check the address, which ends \
                 before `/embeddings`, and the model"
            ),
            _ => format!("`{place}` refuses to make embeddings of `{model}` ({status})"),
        };
        let said = response.bytes(LARGEST_REFUSAL).await.ok().and_then(|body| explain(&body));
        let key = self.settings.key.as_ref().map(Secret::expose).filter(|key| !key.is_empty());
        let said = said.map(|said| key.map_or(said.clone(), |key| said.replace(key, "[secret]")));
        let error = EmbedError { message, source: said.map(Into::into) };
        match status {
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => {
                EndpointFailure::Form(error)
            }
            StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT => EndpointFailure::Passing(error, wait),
            _ => EndpointFailure::Final(error),
        }
    }
}

/// How long the server wants to be left alone, in whole seconds.
fn pause_of(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(Duration::from_hours(24)))
}

/// What may be told of an address: all but a query, in which somebody may have put a key.
fn place(url: &Url) -> String {
    format!("{}{}", url.origin().ascii_serialization(), url.path())
}

fn name(settings: &EndpointSettings, url: &Url) -> String {
    let EndpointSettings { model, dimensions, prefixes, .. } = settings;
    let width = dimensions.map_or_else(String::new, |dimensions| format!(" {dimensions}"));
    let has_none = *prefixes == Prefixes::default();
    let prefix = if has_none { String::new() } else { format!(" {prefixes:?}") };
    format!("{} {model}{width}{prefix}", place(url))
}

impl Embedder for EndpointEmbedder {
    fn name(&self) -> &str {
        &self.name
    }

    fn embed<'a>(&'a self, purpose: EmbedPurpose, texts: &'a [String]) -> EmbedFuture<'a> {
        Box::pin(self.all(purpose, texts))
    }
}
