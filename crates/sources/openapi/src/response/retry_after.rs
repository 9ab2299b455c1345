//! `Retry-After`: seconds, or a date as HTTP writes them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::HeaderMap;
use http::header::RETRY_AFTER;

/// Nobody waits longer for one call.
const LONGEST: Duration = Duration::from_hours(24);

/// How long to wait, counted from `now`; `None` if nothing readable was said.
pub(super) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let until = |then: SystemTime| then.duration_since(now).unwrap_or_default();
    let wait = match text(RETRY_AFTER.as_str()) {
        Some(text) => match text.parse::<u64>() {
            Ok(seconds) => Some(Duration::from_secs(seconds)),
            Err(_) => httpdate::parse_http_date(text).ok().map(until),
        },
        // GitHub and others say when the limit is lifted, in seconds since 1970.
        None if text("x-ratelimit-remaining") == Some("0") => {
            let since = Duration::from_secs(text("x-ratelimit-reset")?.parse().ok()?);
            UNIX_EPOCH.checked_add(since).map(until)
        }
        None => None,
    };
    wait.map(|wait| wait.min(LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(headers: &[(&'static str, &str)]) -> Option<u64> {
        let now = UNIX_EPOCH + Duration::from_secs(784_111_777);
        let headers = headers.iter().map(|(name, value)| {
            (http::HeaderName::from_static(name), http::HeaderValue::from_str(value).unwrap())
        });
        retry_after(&headers.collect(), now).map(|wait| wait.as_secs())
    }

    #[test]
    fn a_wait_is_read_in_all_its_forms() {
        assert_eq!(wait(&[("retry-after", "7")]), Some(7));
        assert_eq!(wait(&[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")]), Some(0));
        assert_eq!(wait(&[("retry-after", "Sun, 06 Nov 1994 08:50:40 GMT")]), Some(63));
        assert_eq!(wait(&[("retry-after", "Tue, 29 Feb 2000 00:00:00 GMT")]), Some(86_400));
        assert_eq!(wait(&[("retry-after", "Sunday, 06-Nov-94 08:50:40 GMT")]), Some(63));
        assert_eq!(wait(&[("retry-after", "Sun Nov  6 08:50:40 1994")]), Some(63));
        assert_eq!(wait(&[("retry-after", "99999999999")]), Some(86_400));
        for odd in ["", "soon", "-1", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37"]
        {
            assert_eq!(wait(&[("retry-after", odd)]), None, "{odd}");
        }
        let reset = ("x-ratelimit-reset", "784111787");
        assert_eq!(wait(&[("x-ratelimit-remaining", "0"), reset]), Some(10));
        assert_eq!(wait(&[("x-ratelimit-remaining", "1"), reset]), None);
    }
}
