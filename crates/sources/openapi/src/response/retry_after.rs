//! `Retry-After`: seconds, or a date as HTTP writes them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::HeaderMap;
use http::header::RETRY_AFTER;

/// Nobody waits longer for one call.
const LONGEST: Duration = Duration::from_hours(24);

/// How long to wait, counted from `now`; `None` if nothing readable was said.
pub(super) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let until = |seconds: u64| {
        let then = UNIX_EPOCH.checked_add(Duration::from_secs(seconds))?;
        Some(then.duration_since(now).unwrap_or_default())
    };
    let wait = match text(RETRY_AFTER.as_str()) {
        Some(text) => match text.parse::<u64>() {
            Ok(seconds) => Some(Duration::from_secs(seconds)),
            Err(_) => date(text).and_then(until),
        },
        // GitHub and others say when the limit is lifted, in seconds since 1970.
        None if text("x-ratelimit-remaining") == Some("0") => {
            text("x-ratelimit-reset")?.parse().ok().and_then(until)
        }
        None => None,
    };
    wait.map(|wait| wait.min(LONGEST))
}

/// `Sun, 06 Nov 1994 08:49:37 GMT` as seconds since 1970.
fn date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (_, text) = text.split_once(", ")?;
    let mut words = text.split(' ');
    let mut next = || words.next();
    let day: u64 = next()?.parse().ok().filter(|day| (1..=31).contains(day))?;
    let month = next()?;
    let month = MONTHS.iter().position(|known| *known == month)?;
    let year: u64 = next()?.parse().ok().filter(|year| (1970..10_000).contains(year))?;
    let mut clock = next()?.split(':').map(|part| part.parse::<u64>().ok());
    let (hours, minutes, seconds) = (clock.next()??, clock.next()??, clock.next()??);
    if next()? != "GMT" || hours > 23 || minutes > 59 || seconds > 60 {
        return None;
    }
    let days = days(year, u64::try_from(month).ok()? + 1, day);
    Some(days * 86_400 + hours * 3_600 + minutes * 60 + seconds)
}

/// Days since 1970 of a day of the Gregorian calendar. Years begin in March here, so that a leap
/// day is the last of its year.
fn days(year: u64, month: u64, day: u64) -> u64 {
    /// From the first of March of the year 0 to the first of January 1970.
    const BEFORE_1970: u64 = 719_468;
    let year = if month > 2 { year } else { year - 1 };
    let month = (month + 9) % 12;
    let leaps = year / 4 - year / 100 + year / 400;
    year * 365 + leaps + (month * 153 + 2) / 5 + day - 1 - BEFORE_1970
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
        assert_eq!(wait(&[("retry-after", "99999999999")]), Some(86_400));
        for odd in ["", "soon", "-1", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37"]
        {
            assert_eq!(wait(&[("retry-after", odd)]), None, "{odd}");
        }
        let reset = ("x-ratelimit-reset", "784111787");
        assert_eq!(wait(&[("x-ratelimit-remaining", "0"), reset]), Some(10));
        assert_eq!(wait(&[("x-ratelimit-remaining", "1"), reset]), None);
    }

    #[test]
    fn days_are_counted_over_leap_years() {
        assert_eq!(days(1970, 1, 1), 0);
        assert_eq!(days(1994, 11, 6) * 86_400 + 8 * 3_600 + 49 * 60 + 37, 784_111_777);
        assert_eq!(days(2000, 3, 1) - days(2000, 2, 28), 2);
        assert_eq!(days(2100, 3, 1) - days(2100, 2, 28), 1);
    }
}
