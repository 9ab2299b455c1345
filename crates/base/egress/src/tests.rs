//! Who is reached and who is not, with a connector that notes and opens nothing.

mod addresses;
mod lines;
mod peers;
mod rebinding;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{HeaderMap, Method};
use url::{Host, Url};

use crate::connect::{AddressGuard, TcpDialer};
use crate::egress::Egress;
use crate::error::{EgressError, EgressErrorKind};
use crate::pool::route::StreamedResponse;
use crate::request::EgressRequest;
use crate::rules::network::Network;
use crate::rules::{EgressRules, EgressScope};

/// The names there are. What is said of `rebinding.test` changes after the first time.
const NAMES: &[(&str, &[&str])] = &[
    ("public.test", &["93.184.216.34"]),
    ("six.test", &["2606:2800:220:1::1"]),
    ("both.test", &["2606:2800:220:1::1", "93.184.216.34"]),
    ("private.test", &["10.0.0.1"]),
    ("mixed.test", &["93.184.216.34", "127.0.0.1"]),
    ("mixed-late.test", &["93.184.216.34", "93.184.216.35", "fd00::1"]),
    ("mapped.test", &["::ffff:127.0.0.1"]),
    ("translated.test", &["64:ff9b::7f00:1"]),
    ("carrier.test", &["100.64.0.1"]),
    ("link.test", &["169.254.169.254"]),
    ("any.test", &["0.0.0.0"]),
    ("none.test", &[]),
    ("localhost", &["127.0.0.1", "::1"]),
    ("idp.corp.internal", &["10.0.0.2"]),
    ("metadata.google.internal", &["169.254.169.254"]),
];

/// A way out that notes where it would connect to.
struct Noting {
    egress: Egress,
    noted: Arc<Mutex<Vec<SocketAddr>>>,
}

impl Noting {
    fn new(reach: EgressScope, named: &[&str], private: &[&str]) -> Self {
        let named = named.iter().map(|url| Url::parse(url).unwrap());
        let private = private.iter().map(|target| target.parse().unwrap()).collect();
        let rules = EgressRules::new(named, reach, Network { private }).unwrap();
        let asked = AtomicUsize::new(0);
        let lookup = move |name: &str| {
            if name == "rebinding.test" {
                let again = asked.fetch_add(1, Ordering::SeqCst) > 0;
                let address = if again { "127.0.0.1" } else { "93.184.216.34" };
                return Ok(vec![address.parse::<IpAddr>().unwrap()]);
            }
            let found = NAMES.iter().find(|(known, _)| *known == name);
            let (_, found) = found.ok_or(io::Error::from(io::ErrorKind::NotFound))?;
            Ok(found.iter().map(|address| address.parse().unwrap()).collect())
        };
        let noted = Arc::default();
        let guard = AddressGuard { rules, lookup: Arc::new(lookup) };
        let egress = Egress::through(guard, TcpDialer::Noted(Arc::clone(&noted))).unwrap();
        Self { egress, noted }
    }

    /// Why there was no answer, and where it would have connected to.
    async fn get(&self, url: &str) -> (EgressErrorKind, String) {
        // What is no URL reaches nobody.
        let Ok(url) = Url::parse(url) else { return (EgressErrorKind::Refused, String::new()) };
        let sent = self.egress.send(EgressRequest::new(Method::GET, url.clone())).await;
        let told = self.told(&url, sent.err());
        // A name that changes its mind says something else the next time.
        if url.host_str() != Some("rebinding.test") {
            assert_eq!(self.told(&url, self.exchange(&url).await.err()), told, "{url}");
        }
        told
    }

    /// The other way to send.
    async fn exchange(&self, url: &Url) -> Result<StreamedResponse, EgressError> {
        let route = self.egress.route(url)?;
        self.egress.exchange(&route, Method::GET, HeaderMap::new(), Bytes::new()).await
    }

    fn told(&self, url: &Url, error: Option<EgressError>) -> (EgressErrorKind, String) {
        let error = error.expect("nothing is connected to");
        // Of other schemes than those of HTTP, every host is a name to the library.
        let host = url.host_str().and_then(|host| Host::parse(host).ok());
        let is_name = matches!(host, Some(Host::Domain(_)));
        assert!(error.never_sent(), "{error:?}");
        let noted: Vec<String> =
            self.noted.lock().unwrap().drain(..).map(|address| address.to_string()).collect();
        assert!(!is_name || tells_no_address(&error), "{error}");
        (error.kind, noted.join(" "))
    }
}

/// Whether what a model reads names none of the addresses that names lead to.
fn tells_no_address(error: &EgressError) -> bool {
    let mut looked_up = NAMES.iter().flat_map(|(_, addresses)| *addresses);
    !looked_up.any(|address| error.message().contains(address))
}
