//! Methods that the protocol does not define: where a door stands for one server, they are that
//! server's to answer.

use std::collections::BTreeMap;
use std::sync::Arc;

use rmcp::model::{CustomNotification, CustomRequest, CustomResult, ErrorData, Extensions};
use rmcp::service::{RequestContext, RoleServer};
use serde::Deserialize as _;
use serde_json::Value;
use toolcrib_core::{JsonFields, ResourceOperation, ResourceRequest};

use crate::door::client::features::ClientFeatures;
use crate::door::sdk::handler::RmcpHandler;
use crate::door::sdk::results::MethodAnswer;

pub(crate) async fn request(
    handler: &RmcpHandler,
    request: CustomRequest,
    context: RequestContext<RoleServer>,
) -> Result<CustomResult, ErrorData> {
    let no_object = || ErrorData::invalid_params("the parameters are no object", None);
    let mut params = fields(request.params).ok_or_else(no_object)?;
    let (mut state, mut answers) = (None, BTreeMap::new());
    if ClientFeatures::of(&context).is_modern {
        // It may come back with what it was asked for.
        let named = params.shift_remove("requestState");
        state = named.and_then(|state| state.as_str().map(str::to_owned));
        let said = params.shift_remove("inputResponses").unwrap_or_default();
        answers = BTreeMap::deserialize(said).unwrap_or_default();
    }
    let reading =
        handler.reading(ResourceOperation::Method(Arc::from(request.method)), &params, context)?;
    Ok(match reading.answer(state, answers).await? {
        MethodAnswer::Complete(result) => result,
        MethodAnswer::Asks(asks) => CustomResult(serde_json::to_value(asks).unwrap_or_default()),
    })
}

/// Nobody can be asked about it, and nobody hears what became of it but the record.
pub(crate) async fn notice(
    handler: &RmcpHandler,
    notice: CustomNotification,
    extensions: &Extensions,
) {
    let (Ok(request_context), Some(mut params)) =
        (handler.request_context(extensions), fields(notice.params))
    else {
        return;
    };
    params.shift_remove("_meta");
    if request_context.sole().is_some() {
        let about = ResourceOperation::Notice(Arc::from(notice.method));
        let _ = handler.pass_on(request_context, ResourceRequest { about, params }).await;
    }
}

fn fields(params: Option<Value>) -> Option<JsonFields> {
    match params {
        None => Some(JsonFields::new()),
        Some(Value::Object(fields)) => Some(fields),
        Some(_) => None,
    }
}
