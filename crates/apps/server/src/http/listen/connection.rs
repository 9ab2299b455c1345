//! One connection: bounded in the size of its heads, and in the time of each of its parts. One that
//! becomes a WebSocket is served here to its end.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use http::header::CONNECTION;
use http::{HeaderValue, StatusCode};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::header_timer::HeaderTimer;
use super::write_timeout::WriteTimeoutStream;
use crate::http::page::door::Visit;
use crate::http::pipeline::handler;
use crate::http::routes::reply::SocketTask;
use crate::http::state::GatewayState;

/// Serves until the peer leaves; after `stop`, what was asked is still answered.
pub(crate) async fn serve(
    stream: TcpStream,
    (gateway, visit): (Arc<GatewayState>, Visit),
    tls: Option<TlsAcceptor>,
    stop: CancellationToken,
) {
    // A small answer does not wait for the next one.
    let _ = stream.set_nodelay(true);
    let stream = WriteTimeoutStream::new(stream, gateway.bounds.stall);
    let Some(tls) = tls else { return talk(stream, (gateway, visit), stop).await };
    // A greeting may take as long as a head.
    let greeting = timeout(gateway.bounds.head_time, tls.accept(stream)).await;
    if let Ok(Ok(stream)) = greeting {
        talk(stream, (gateway, visit), stop).await;
    }
}

async fn talk<S>(stream: S, (gateway, visit): (Arc<GatewayState>, Visit), stop: CancellationToken)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let bounds = gateway.bounds.clone();
    let afterwards = Mutex::new(None);
    let answer = service_fn(|request| {
        let answering = handler::answer(Arc::clone(&gateway), visit, request);
        let afterwards = &afterwards;
        let gateway = &gateway;
        async move {
            let mut reply = answering.await?;
            let is_switched = reply.status() == StatusCode::SWITCHING_PROTOCOLS;
            if !is_switched && gateway.leaves.is_cancelled() {
                // The next request of this peer goes to another server.
                reply.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            if is_switched {
                let task = reply.extensions_mut().remove::<SocketTask>();
                *afterwards.lock().unwrap_or_else(PoisonError::into_inner) = task;
            }
            Ok::<_, Infallible>(reply)
        }
    });
    let connection = http1::Builder::new()
        .timer(HeaderTimer::default())
        .header_read_timeout(bounds.head_time)
        .max_headers(bounds.headers)
        .max_header_size(bounds.head)
        .max_buf_size(2 * bounds.head)
        .serve_connection(TokioIo::new(stream), answer)
        .with_upgrades();
    let mut connection = std::pin::pin!(connection);
    // How a connection ends is of no use to anybody: the peer is gone.
    tokio::select! {
        _ = connection.as_mut() => {}
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
    let task = afterwards.lock().unwrap_or_else(PoisonError::into_inner).take();
    // Here and not on a task of its own, so that its places are held until it is over.
    if let Some(serve) = task.and_then(|task| task.take()) {
        serve.await;
    }
}
