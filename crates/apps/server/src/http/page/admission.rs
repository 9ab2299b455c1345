//! What a request of the page must bring: both halves of its session, and nothing that says that
//! another page sent it.

use std::time::Instant;

use http::request::Parts;
use http::{HeaderMap, HeaderName, header};
use toolcrib_auth::ProtectedResource;

use super::door::Visit;
use super::sessions::PageSession;
use crate::http::pipeline::authentication::ended;
use crate::http::pipeline::host_check::single;
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::route::Route;
use crate::http::state::GatewayState;

/// Carries the half of a session that the page keeps.
const PAGE: HeaderName = HeaderName::from_static("toolcrib-page");
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The session of a request; `None`: it brings nothing of one, and is looked at by its token.
///
/// What is half of a session is refused and never passed over, also beside a token.
pub(crate) fn session(
    gateway: &GatewayState,
    visit: Visit,
    parts: &Parts,
    route: &Route,
) -> Result<Option<PageSession>, HttpProblem> {
    let door = &gateway.page;
    if !route.takes_session() || !door.is_at(visit.listener) {
        return Ok(None);
    }
    let page = single(&parts.headers, &PAGE)?;
    let cookie = cookie(&parts.headers, &door.cookie())?;
    let refused = |why| ended(&gateway.guard.access(), ProtectedResource::Whole, why);
    let (cookie, page) = match (cookie, page) {
        (None, None) => return Ok(None),
        (Some(cookie), Some(page)) => (cookie, page),
        (Some(_), None) | (None, Some(_)) => {
            return Err(refused("it brings one half of a session, and both are needed"));
        }
    };
    if parts.headers.contains_key(header::AUTHORIZATION) {
        return Err(refused("it brings a session and a token, and one of them may come"));
    }
    same_page(gateway, &parts.headers)?;
    let session = door.sessions.find(cookie, page, Instant::now());
    session.map(Some).ok_or_else(|| refused("its session has ended"))
}

/// Refuses what a browser says that another page sent: one of another port, too.
pub(crate) fn same_page(gateway: &GatewayState, headers: &HeaderMap) -> Result<(), HttpProblem> {
    let host = single(headers, &header::HOST)?.unwrap_or_default();
    let own = format!("{}://{host}", gateway.page.scheme());
    let origin = single(headers, &header::ORIGIN)?;
    let site = single(headers, &FETCH_SITE)?;
    let is_ours = origin.is_none_or(|origin| origin.eq_ignore_ascii_case(&own))
        && site.is_none_or(|site| site == "same-origin");
    if is_ours {
        return Ok(());
    }
    let detail = "a session is good for the page at this very address, and for no other";
    Err(HttpProblem::new(ProblemKind::BadOrigin, detail))
}

/// The value of our cookie. Two of one name are none: one of them was put there by somebody else.
fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, HttpProblem> {
    let texts = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = texts.flat_map(|text| text.split(';')).filter_map(|pair| pair.split_once('='));
    let mut own = pairs.filter(|(key, _)| key.trim() == name).map(|(_, value)| value.trim());
    let found = own.next();
    if own.next().is_some() {
        let detail = "the cookie of the page came twice: remove the cookies of this host";
        return Err(HttpProblem::new(ProblemKind::BadRequest, detail));
    }
    Ok(found)
}
