//! Every route of the server: the list is made of the table that the router is made of, so that
//! a new route without these checks cannot be.

/// One line for each row: method, path, who may ask, and whether it takes a body or is a WebSocket.
const LIST: &str = include_str!("routes.txt");

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    /// `anybody`, `caller` or `operator`.
    pub(crate) access: &'static str,
    pub(crate) takes_body: bool,
}

impl Route {
    /// The path with `x` for each of its names.
    pub(crate) fn filled(&self) -> String {
        self.with("x")
    }

    /// Whether its answer goes on for ever.
    pub(crate) fn listens(&self) -> bool {
        self.path == "/v1/events"
    }

    pub(crate) fn with(&self, value: &str) -> String {
        let segments = self.path.split('/');
        let filled = segments.map(|name| if name.starts_with('{') { value } else { name });
        filled.collect::<Vec<_>>().join("/")
    }
}

pub(crate) fn all() -> Vec<Route> {
    // A WebSocket has checks of its own: its door answers only who asks for one.
    let routes: Vec<_> =
        LIST.lines().filter(|line| !line.ends_with(" socket")).map(route).collect();
    assert!(routes.len() > 20, "{routes:?}");
    routes
}

fn route(line: &'static str) -> Route {
    let mut words = line.split(' ');
    let mut next = || words.next().unwrap_or_default();
    let (method, path, access, body) = (next(), next(), next(), next());
    Route { method, path, access, takes_body: body == "body" }
}
