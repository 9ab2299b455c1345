//! From names to addresses.

use std::future::{Future, ready};
use std::io;
use std::net::IpAddr;
use std::pin::Pin;

/// The addresses of a name, to come.
pub type AddressLookupFuture<'a> =
    Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// Finds the addresses of a name. What it finds is judged before anything connects.
pub trait AddressLookup: Send + Sync + 'static {
    fn lookup<'a>(&'a self, name: &'a str) -> AddressLookupFuture<'a>;
}

/// The resolver of the system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemLookup;

impl AddressLookup for SystemLookup {
    fn lookup<'a>(&'a self, name: &'a str) -> AddressLookupFuture<'a> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// A table, for tests.
impl<F> AddressLookup for F
where
    F: Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync + 'static,
{
    fn lookup<'a>(&'a self, name: &'a str) -> AddressLookupFuture<'a> {
        Box::pin(ready(self(name)))
    }
}
