//! What a server asks of us while a call runs, in either era, put to the host of that call.

use rmcp::ClientHandler;
use rmcp::model::{ClientConfig, CustomRequest, CustomResult, ErrorCode, ErrorData};
use rmcp::service::{RequestContext, RoleClient};
use serde_json::{Value, json};
use std::sync::Arc;
use toolcrib_core::{
    CallContext, FormFallback, HostQuestion, JsonFields, QuestionError, QuestionKind,
};

use crate::client::connection::capabilities::ourselves;
use crate::client::inflight::{InFlight, QuestionOwner, ServerQuestion};

/// The end of the SDK that hears requests of the server.
pub(crate) struct ServerRequestHandler {
    pub(crate) calls: Arc<InFlight>,
    pub(crate) answers: Vec<QuestionKind>,
}

impl ClientHandler for ServerRequestHandler {
    fn get_info(&self) -> ClientConfig {
        ourselves(&self.answers)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<CustomResult, ErrorData> {
        let Some(asked) = self.calls.question(&context.id) else {
            let message =
                format!("nothing here answers `{}`", crate::protocol::text::clean(&request.method));
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None));
        };
        tokio::select! {
            answer = self.answer(asked) => {
                answer.map(CustomResult).map_err(|refusal| {
                    ErrorData::new(ErrorCode(refusal.code), refusal.message, None)
                })
            }
            // The server does not want to know any more; what we say now is not sent.
            () = context.ct.cancelled() => Ok(CustomResult(Value::Null)),
        }
    }
}

impl ServerRequestHandler {
    async fn answer(&self, asked: ServerQuestion) -> Result<Value, QuestionRefusal> {
        let ServerQuestion { method, params, of } = asked;
        let (of, _asked) = match of {
            QuestionOwner::Call(slot, asking) => (slot, asking),
            QuestionOwner::Nobody => return Err(refused(NO_CALL)),
            QuestionOwner::Unclear(doubt) => {
                // Nothing more is begun on this connection meanwhile.
                let _held = self.calls.asks();
                let of = self.calls.settled(&doubt).await.ok_or_else(|| refused(UNCLEAR))?;
                let asking = of.is_asked();
                (of, asking)
            }
        };
        let _waits = self.calls.asks();
        of.notes_address(&params);
        let Some(call) = of.context() else { return Err(refused(NO_CALL)) };
        answer(&method, PosedQuestion::new(params), call).await
    }
}

/// Why a question has no answer, as a server is told it.
pub(crate) struct QuestionRefusal {
    pub(crate) code: i32,
    pub(crate) message: &'static str,
}

const METHOD_NOT_FOUND: i32 = -32601;
const REFUSED: i32 = -1;
const NO_CALL: &str = "nobody can be asked: no call runs that this could be of";
const UNCLEAR: &str = "nobody can be asked: several calls ran, and the question does not say which \
                       of them it is of; made again, the call runs by itself (`share = \"session\"` \
                       in `mcp` at the source keeps all of them apart)";

fn refused(message: &'static str) -> QuestionRefusal {
    QuestionRefusal { code: REFUSED, message }
}

/// A question beside its method, as far as whoever asks said it.
pub(crate) struct PosedQuestion {
    params: Value,
    name: Option<String>,
    besides: JsonFields,
    around: Arc<JsonFields>,
}

impl PosedQuestion {
    fn new(params: Value) -> Self {
        Self { params, name: None, besides: JsonFields::new(), around: Arc::default() }
    }
}

/// Puts one question to the host of `call`.
///
/// Where there is nobody to ask, or the address is not the one that a person would read, its asker
/// is told so by an error, since the answers of the protocol are all answers of a person; but for
/// those who want a question put away then (`cancel`), with which a server can go on.
pub(crate) async fn answer(
    method: &str,
    posed: PosedQuestion,
    call: &CallContext,
) -> Result<Value, QuestionRefusal> {
    let Some(question) = question(method, &posed.params) else {
        return Err(QuestionRefusal { code: METHOD_NOT_FOUND, message: "no such method" });
    };
    let asks_a_person = matches!(question, QuestionKind::Form | QuestionKind::Address);
    let PosedQuestion { params, name, besides, around } = posed;
    let ask = HostQuestion { question, params, name, besides, around };
    match call.ask(ask).await {
        Ok(answer) => Ok(answer),
        Err(QuestionError::Unable) if asks_a_person && call.unheard() == FormFallback::PutAway => {
            Ok(json!({ "action": "cancel" }))
        }
        // The person was asked, and has not answered.
        Err(QuestionError::Cancelled | QuestionError::Late) if asks_a_person => {
            Ok(json!({ "action": "cancel" }))
        }
        Err(QuestionError::Unable) => Err(refused("nobody can be asked")),
        Err(QuestionError::Cancelled | QuestionError::Late) => Err(refused("cancelled")),
    }
}

fn question(method: &str, params: &Value) -> Option<QuestionKind> {
    match method {
        "elicitation/create" if params.get("mode").is_some_and(|mode| mode == "url") => {
            Some(QuestionKind::Address)
        }
        "elicitation/create" => Some(QuestionKind::Form),
        "sampling/createMessage" => Some(QuestionKind::Sample),
        "roots/list" => Some(QuestionKind::Roots),
        _ => None,
    }
}

/// Questions of one answer that are put to the host.
const MOST_REQUESTS: usize = 16;

/// Answers the questions of an `input_required` result under their keys. They are put at once, so
/// that a host which has to come back with answers comes back once. `around`: what that result says
/// besides.
pub(crate) async fn answer_all(
    requests: JsonFields,
    around: JsonFields,
    call: &CallContext,
) -> Result<JsonFields, QuestionRefusal> {
    if requests.len() > MOST_REQUESTS {
        return Err(QuestionRefusal { code: REFUSED, message: "too many questions at once" });
    }
    let around = Arc::new(around);
    let asked = requests.into_iter().map(async |(key, request)| {
        let Value::Object(mut besides) = request else {
            return Err(QuestionRefusal { code: METHOD_NOT_FOUND, message: "no such method" });
        };
        let params = besides.shift_remove("params").unwrap_or_default();
        let method = besides.shift_remove("method").unwrap_or_default();
        let method = method.as_str().unwrap_or_default();
        let around = Arc::clone(&around);
        let posed = PosedQuestion { params, name: Some(key.clone()), besides, around };
        Ok((key, answer(method, posed, call).await?))
    });
    let answers = futures_util::future::try_join_all(asked).await?;
    Ok(answers.into_iter().collect())
}
