//! Real servers on this machine, and our side of the conversation.

mod clients;
mod issuer;
mod keeping;
mod people;
mod renewals;
mod resource;
mod source;
mod trust;

use std::path::PathBuf;
use std::sync::Arc;

use toolcrib_core::Caller;
use url::Url;

use self::issuer::Issuer;
use self::resource::{Resource, browse};
use super::caller_tokens::CallerTokens;
use super::{LoginError, login};
use crate::client::settings::{HttpSettings, OAuthSettings};

/// A folder that is gone with the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        Self(std::env::temp_dir().join(format!("toolcrib-oauth-{}", uuid::Uuid::new_v4())))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A resource, its issuer, and where our tokens are.
struct World {
    issuer: Arc<Issuer>,
    resource: Arc<Resource>,
    folder: Folder,
}

impl World {
    async fn new() -> Self {
        let issuer = Issuer::start().await;
        let resource = Resource::start(&issuer).await;
        Self { issuer, resource, folder: Folder::new() }
    }

    fn oauth(&self) -> OAuthSettings {
        OAuthSettings { tokens: Some(self.folder.0.clone()), ..OAuthSettings::default() }
    }

    fn settings(&self) -> HttpSettings {
        self.resource.settings(self.oauth())
    }

    fn vault(&self) -> CallerTokens {
        vault(&self.settings())
    }

    async fn log_in(&self, caller: &Caller) -> Result<(), LoginError> {
        log_in(&self.settings(), caller).await
    }
}

fn vault(settings: &HttpSettings) -> CallerTokens {
    CallerTokens::new(settings).unwrap().expect("the settings say OAuth")
}

/// A log-in with a person who does what the page says.
async fn log_in(settings: &HttpSettings, caller: &Caller) -> Result<(), LoginError> {
    login(settings, caller, |url: Url| drop(tokio::spawn(browse(url)))).await
}
