//! `GET /v1/cluster`: the replicas that share the record, for the operator.

use crate::config::record::fleet;
use crate::http::rest::records::listing::silent;
use crate::http::routes::reply::json as reply;
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

pub(crate) fn show(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let Some(store) = &asked.gateway.store else { return Ok(reply(&fleet::alone())) };
        let own = store.replica();
        let known = store.fleet(fleet::OLD).await.map_err(|error| silent(&asked, error))?;
        Ok(reply(&match known {
            Some(known) => fleet::told(&known, own.as_deref()),
            None => fleet::alone(),
        }))
    })
}
