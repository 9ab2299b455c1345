//! One call of an API: a draft, credentials, the way out, an outcome.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use tokio::time::Instant;
use toolcrib_core::{
    Arguments, CallContext, Effect, ErrorKind, Mask, Redactor, ToolError, ToolOutcome, Trace,
};
use toolcrib_egress::{EgressBody, EgressRequest, EgressTimeouts};
use url::Url;

use crate::auth::{ApiEgress, ChosenCredential, GrantCache, IssuedToken, Keyring, is_rejection};
use crate::operation::ApiOperation;
use crate::request::RequestDraft;
use crate::response::ApiResponse;
use crate::server::ApiServer;

const TRACE: HeaderName = HeaderName::from_static("traceparent");
const STATE: HeaderName = HeaderName::from_static("tracestate");

/// How long an answer may still come to a call that was given up: shorter than the gate waits.
const LAST_WORDS: Duration = Duration::from_millis(250);

/// What all calls of one API share.
pub(crate) struct ApiClient {
    pub(crate) server: ApiServer,
    pub(crate) keyring: Keyring,
    pub(crate) grants: Arc<GrantCache>,
    pub(crate) ways: ApiEgress,
    /// Sent with every request, in place of what arguments say.
    pub(crate) headers: HeaderMap,
    pub(crate) idempotency_header: Option<HeaderName>,
    /// Whether requests carry the place of their call in a trace.
    pub(crate) trace_context: bool,
    pub(crate) timeout: Duration,
    pub(crate) max_response_bytes: u64,
    /// Knows all secrets of the settings, and the tokens that were learned.
    pub(crate) mask: Mask,
}

/// The tokens that one call has been given: nothing else knows them all.
type CallTokens = Vec<IssuedToken>;

impl ApiClient {
    /// Calls an operation. No token of this call is in the outcome, also if the API echoes it.
    pub(crate) async fn call(
        &self,
        operation: &ApiOperation,
        arguments: &Arguments,
        context: &CallContext,
    ) -> ToolOutcome {
        let draft = match RequestDraft::new(operation, arguments.fields()) {
            Ok(draft) => draft,
            Err(error) => return ToolOutcome::Failed(error),
        };
        self.send(operation, draft, context).await
    }

    /// Sends a draft; `operation` says which server and which credentials it takes.
    pub(crate) async fn send(
        &self,
        operation: &ApiOperation,
        mut draft: RequestDraft,
        context: &CallContext,
    ) -> ToolOutcome {
        draft.headers.extend(self.headers.clone());
        if let Some(name) = self.idempotency_header.clone().filter(|_| !is_safe(&draft.method)) {
            // The same in every attempt of the call, so that the API can tell a repetition.
            if let Ok(key) = HeaderValue::from_str(&context.key().to_string()) {
                draft.headers.insert(name, key);
            }
        }
        let mut tokens = CallTokens::new();
        let mut outcome = match self.attempts(operation, draft, context, &mut tokens).await {
            Ok(answer) => answer.outcome(),
            Err(error) => ToolOutcome::Failed(error),
        };
        Self::redact(&mut outcome, &tokens);
        outcome
    }

    /// Once, and once more with a new token if the first is not accepted: such a call has not
    /// been let in, so nothing is done twice.
    async fn attempts(
        &self,
        operation: &ApiOperation,
        draft: RequestDraft,
        context: &CallContext,
        tokens: &mut CallTokens,
    ) -> Result<ApiResponse, ToolError> {
        let shown = self.keyring.choose(operation, context.caller())?;
        let first = self.written(draft.clone(), &shown, None, tokens).await?;
        let answer = self.exchange(operation, first, context).await?;
        let is_granted = shown.iter().any(|shown| shown.grant().is_some());
        if !is_granted || !is_rejection(answer.status) {
            return Ok(answer);
        }
        let rejected = tokens.clone();
        match self.written(draft, &shown, Some(&rejected), tokens).await {
            Ok(second) => self.exchange(operation, second, context).await,
            // The answer of the API says more than the silence of the token server.
            Err(_) => Ok(answer),
        }
    }

    async fn written(
        &self,
        mut draft: RequestDraft,
        shown: &[ChosenCredential],
        rejected: Option<&CallTokens>,
        tokens: &mut CallTokens,
    ) -> Result<RequestDraft, ToolError> {
        let mut granted = 0;
        for shown in shown {
            let token = match shown.grant() {
                None => None,
                Some(grant) => {
                    let rejected = rejected.and_then(|rejected| rejected.get(granted));
                    let rejected = rejected.map(|rejected| &rejected.secret);
                    granted += 1;
                    let base = &self.server.base;
                    Some(self.grants.token(&grant, base, rejected, &self.ways).await?)
                }
            };
            shown.write(token.as_ref().map(|token| &token.secret), &mut draft)?;
            tokens.extend(token);
        }
        Ok(draft)
    }

    /// One request and its answer.
    async fn exchange(
        &self,
        operation: &ApiOperation,
        draft: RequestDraft,
        context: &CallContext,
    ) -> Result<ApiResponse, ToolError> {
        let base = self.server.of(operation.server.as_deref());
        let url = draft.url(&base)?;
        let outbound = outbound_span::begin(operation, (&draft.method, &url), context);
        let reads = operation.effect.map(|effect| effect == Effect::Read);
        let reads = reads.unwrap_or_else(|| is_safe(&draft.method));
        // What is given up is closed, so that the API hears of it; what was on its way counts.
        let answered = tokio::select! {
            biased;
            answered = self.carry((draft, reads), url, (context, outbound.trace())) => answered,
            () = given_up(context) => Err(cancelled()),
        };
        outbound_span::end(outbound, &answered);
        answered
    }

    /// `only_reads`: it cannot change anything. `place`: what the request says of where it stands.
    async fn carry(
        &self,
        (draft, only_reads): (RequestDraft, bool),
        url: Url,
        (context, place): (&CallContext, Option<Trace>),
    ) -> Result<ApiResponse, ToolError> {
        let has_body = draft.method != Method::HEAD;
        let left = context.deadline().saturating_duration_since(Instant::now());
        let total = self.timeout.min(left);
        let usual = EgressTimeouts::default();
        let connect = usual.connect.min(total);
        let mut request = EgressRequest::new(draft.method, url.clone());
        request.timeouts = EgressTimeouts { connect, first_byte: total, idle: total, total };
        request.headers = draft.headers;
        request.unpack = self.ways.bounds.unpack;
        if let Some(place) = place.filter(|_| self.trace_context)
            && let Ok(place) = HeaderValue::from_str(&place.to_string())
        {
            request.headers.insert(TRACE, place);
            if let Some(state) = context.trace_state()
                && let Ok(state) = HeaderValue::from_str(state.as_str())
            {
                request.headers.insert(STATE, state);
            }
        }
        if let Some(cookie) = cookie(request.headers.get(COOKIE), &draft.cookies)? {
            request.headers.insert(COOKIE, cookie);
        }
        if let Some(payload) = draft.body {
            request.headers.insert(CONTENT_TYPE, payload.media);
            request.body = EgressBody::Bytes(payload.bytes);
        }
        let told = |error| transport_error::told(error, only_reads, self.max_response_bytes);
        let response = self.ways.api.send(request).await.map_err(told)?;
        let (status, headers) = (response.status, response.headers.clone());
        let is_refusal = !status.is_success();
        let body = match response.bytes(self.max_response_bytes).await {
            Ok(body) => body,
            // It says how large the body would be.
            Err(_) if !has_body => Bytes::new(),
            // A refusal is one, however its explanation ends.
            Err(_) if is_refusal => Bytes::new(),
            Err(error) => return Err(told(error)),
        };
        Ok(ApiResponse { status, headers, body, url, only_reads })
    }

    /// Takes out the tokens of this call, which nobody else knows all of; the gate does the rest.
    fn redact(outcome: &mut ToolOutcome, tokens: &[IssuedToken]) {
        // One may hold another secret, and would not be known any more after the gate's step.
        let Some(given) = masking(tokens) else { return };
        match outcome {
            ToolOutcome::Done(content) => given.content(content),
            ToolOutcome::Failed(error) => given.error(error),
            ToolOutcome::Denied { .. } | ToolOutcome::Pending(_) => {}
        }
    }
}

/// Resolves a moment after nobody waits for the call any more.
async fn given_up(context: &CallContext) {
    context.cancelled().await;
    tokio::time::sleep(LAST_WORDS).await;
}

fn cancelled() -> ToolError {
    ToolError::new(ErrorKind::Cancelled, "the call was cancelled, and its request closed")
}

/// What masks all tokens of a call: that of the one token that most calls have. Several are masked
/// at once and not in turn, since one may be a part of another.
fn masking(tokens: &[IssuedToken]) -> Option<Arc<Redactor>> {
    match tokens {
        [] => None,
        [one] => Some(Arc::clone(&one.redactor)),
        several => {
            let secrets = several.iter().map(|token| token.secret.clone());
            Some(Arc::new(Redactor::new(secrets)))
        }
    }
}

/// What the protocol itself calls safe.
fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// The cookies of the settings, if there are any, before those of the call: most servers take the
/// first of a name.
fn cookie(
    configured: Option<&HeaderValue>,
    pairs: &[crate::request::EncodedPair],
) -> Result<Option<HeaderValue>, ToolError> {
    if pairs.is_empty() {
        return Ok(None);
    }
    let configured = configured.and_then(|value| value.to_str().ok()).map(str::to_owned);
    let pairs = pairs.iter().map(|pair| match &pair.value {
        Some(value) => format!("{}={value}", pair.name),
        None => pair.name.clone(),
    });
    let all: Vec<String> = configured.into_iter().chain(pairs).collect();
    let mut value = crate::request::value_of("cookie", &all.join("; "))?;
    value.set_sensitive(true);
    Ok(Some(value))
}

mod outbound_span;
#[cfg(test)]
mod tests;
mod transport_error;
