//! A server that remembers every request and answers as a test says, and a crib over one API.
#![expect(clippy::unwrap_used, reason = "a helper of tests")]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::Response;
use serde_json::Value;
use toolcrib_core::{
    AllowAll, Call, Caller, PlanRequest as Wish, RawArguments, Response as Answer, Source,
    SourceId, ToolSpec, Toolset,
};
use toolcrib_engine::Crib;
use toolcrib_openapi::{ApiSettings, ApiSource, DocumentLocation};
use url::Url;

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Heard {
    pub(crate) method: Method,
    /// Path and query as they were sent.
    pub(crate) target: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Heard {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// `GET /path?query`.
    pub(crate) fn line(&self) -> String {
        format!("{} {}", self.method, self.target)
    }
}

#[derive(Clone)]
pub(crate) struct Upstream {
    pub(crate) url: Url,
    heard: Arc<Mutex<Vec<Heard>>>,
}

impl Upstream {
    pub(crate) async fn start(
        answer: impl Fn(&Heard) -> Response + Clone + Send + Sync + 'static,
    ) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = Url::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
        let heard: Arc<Mutex<Vec<Heard>>> = Arc::default();
        let ears = Arc::clone(&heard);
        let hear = move |method: Method, uri: Uri, headers: HeaderMap, body: Body| {
            let (ears, answer) = (Arc::clone(&ears), answer.clone());
            async move {
                let body = to_bytes(body, 1 << 24).await.unwrap();
                let body = String::from_utf8_lossy(&body).into_owned();
                let heard = Heard { method, target: uri.to_string(), headers, body };
                let answered = answer(&heard);
                ears.lock().unwrap().push(heard);
                answered
            }
        };
        let router = Router::new().fallback(hear);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, heard }
    }

    pub(crate) fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap().clone()
    }

    pub(crate) fn last(&self) -> Heard {
        self.heard().pop().unwrap()
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.heard().iter().map(Heard::line).collect()
    }
}

pub(crate) fn json(value: &Value) -> Response {
    with(200, &[("content-type", "application/json")], &value.to_string())
}

pub(crate) fn with(status: u16, headers: &[(&str, &str)], body: &str) -> Response {
    let mut response = Response::new(Body::from(body.to_owned()));
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    for (name, value) in headers {
        let name: axum::http::HeaderName = name.parse().unwrap();
        response.headers_mut().insert(name, value.parse().unwrap());
    }
    response
}

/// Settings of a document whose API is at a place.
pub(crate) fn settings(document: &str, base: &Url) -> ApiSettings {
    let document = DocumentLocation::Text(document.to_owned());
    ApiSettings { base_url: Some(base.clone()), ..ApiSettings::new(document) }
}

pub(crate) fn source(settings: ApiSettings) -> ApiSource {
    ApiSource::new(SourceId::new("api"), settings)
}

pub(crate) async fn load(settings: ApiSettings) -> Toolset {
    source(settings).load().await.unwrap()
}

/// A crib of one API in which everything may be called.
pub(crate) struct Shop(pub(crate) Crib);

impl Shop {
    pub(crate) async fn open(settings: ApiSettings) -> Self {
        Self::of(load(settings).await)
    }

    pub(crate) fn of(tools: Toolset) -> Self {
        Self(Crib::builder().policy(AllowAll).build_fixed(tools))
    }

    pub(crate) async fn call(&self, tool: &str, arguments: &Value) -> Answer {
        self.call_as(&Caller::local(), tool, arguments).await
    }

    pub(crate) async fn call_as(&self, caller: &Caller, tool: &str, arguments: &Value) -> Answer {
        let plan = self.0.plan(caller, Wish::default()).unwrap();
        let call = Call::new("1", tool, RawArguments::Value(arguments.clone()));
        self.0.run(&plan, vec![call]).await.responses.remove(0)
    }
}

pub(crate) fn specs(tools: &Toolset) -> Vec<ToolSpec> {
    tools.iter().map(|shelved| ToolSpec::clone(&shelved.spec)).collect()
}

/// Where the real documents are.
pub(crate) fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/data/openapi")
}

/// The text of a real document; without it the test says so and is over.
pub(crate) fn document(name: &str) -> Option<String> {
    use std::io::{Read, Write};
    let path = corpus().join(name);
    let Ok(bytes) = std::fs::read(&path) else {
        let _ = writeln!(std::io::stdout(), "[skipped] there is no {}", path.display());
        return None;
    };
    let mut text = String::new();
    if Path::new(name).extension().is_some_and(|end| end == "gz") {
        flate2::read::GzDecoder::new(&*bytes).read_to_string(&mut text).unwrap();
    } else {
        text = String::from_utf8(bytes).unwrap();
    }
    Some(text)
}
