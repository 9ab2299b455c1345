//! Single values: durations, sizes, addresses, names.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toolcrib_core::ToolName;
use toolcrib_egress::{Network, PrivateTarget, is_of_this_machine};
use url::Url;

use super::ConfigChecker;
use crate::file::toml_path::TomlPath;
use crate::file::units;
use crate::raw::{PauseText, SizeText};

/// Longer than anybody waits, and short enough that a clock can add it.
const LONGEST: Duration = Duration::from_hours(24 * 365);

impl ConfigChecker<'_, '_, '_> {
    /// A duration that may be nothing.
    pub(super) fn pause(&mut self, text: Option<&PauseText>, place: &TomlPath) -> Option<Duration> {
        let pause = match text? {
            PauseText::Seconds(seconds) => seconds.checked_mul(1000),
            PauseText::Text(text) => units::pause(text),
        };
        let pause = pause.map(Duration::from_millis).filter(|pause| *pause <= LONGEST);
        if pause.is_none() {
            let cure = "write `500ms`, `30s`, `5m`, `2h` or `1d`, a year at the most";
            self.problem(place, "this is no duration", cure);
        }
        pause
    }

    /// A duration that is something.
    pub(super) fn timeout(
        &mut self,
        text: Option<&PauseText>,
        place: &TomlPath,
    ) -> Option<Duration> {
        let pause = self.pause(text, place)?;
        if pause.is_zero() {
            self.problem(place, "nothing ends within no time", "write `1s` or more");
        }
        Some(pause)
    }

    pub(super) fn size(&mut self, text: Option<&SizeText>, place: &TomlPath) -> Option<usize> {
        let size = match text? {
            SizeText::Bytes(bytes) => Some(*bytes),
            SizeText::Text(text) => units::size(text),
        };
        let size = size.filter(|size| *size > 0 && *size <= 1 << 40);
        if size.is_none() {
            let cure = "write `64KiB`, `8MiB` or a number of bytes from 1";
            self.problem(place, "this is no size", cure);
        }
        size.and_then(|size| usize::try_from(size).ok())
    }

    /// A number of which there is one at the least.
    pub(super) fn count(&mut self, number: Option<u32>, place: &TomlPath, default: usize) -> usize {
        if number == Some(0) {
            self.problem(place, "nothing is within a limit of 0", "write 1 or more");
        }
        number.map_or(default, |number| usize::try_from(number).unwrap_or(usize::MAX))
    }

    pub(super) fn address(&mut self, text: &str, place: &TomlPath) -> Option<SocketAddr> {
        let address = text.parse().ok();
        if address.is_none() {
            let cure = "write an address and a port, as in `127.0.0.1:7411` or `[::1]:7411`";
            self.problem(place, "this is no address to listen on", cure);
        }
        address
    }

    /// An address of the web without a login in it: addresses stand in logs.
    pub(super) fn url(&mut self, text: &str, place: &TomlPath) -> Option<Url> {
        let url = match Url::parse(text) {
            Ok(url) if ["http", "https"].contains(&url.scheme()) && url.has_host() => url,
            Ok(_) | Err(_) => {
                let cure = "write it as `https://host/path`";
                self.problem(place, "this is no address of the web", cure);
                return None;
            }
        };
        if !url.username().is_empty() || url.password().is_some() {
            let cure = "put it into `headers`, `bearer` or `auth` as `${env:NAME}`";
            self.problem(place, "an address that holds a login stands in every log", cure);
            return None;
        }
        Some(url)
    }

    /// Warns where a secret would cross the network for everybody to read.
    pub(super) fn in_the_open(&mut self, url: Option<&Url>, is_signed: bool, place: &TomlPath) {
        let Some(url) = url.filter(|url| is_signed && url.scheme() == "http") else { return };
        if !is_of_this_machine(url) {
            let message = "secrets go to this address unencrypted";
            self.findings.warning(place, message, "use `https`");
        }
    }

    pub(super) fn network(&mut self, targets: &[String], place: &TomlPath) -> Network {
        let mut private = Vec::new();
        for (index, text) in targets.iter().enumerate() {
            if let Ok(target) = text.parse::<PrivateTarget>() {
                private.push(target);
            } else {
                let cure = "write `10.0.0.0/8`, `127.0.0.1` or `127.0.0.1:8080`";
                self.problem(&place.index(index), "this is no network address", cure);
            }
        }
        Network { private }
    }

    pub(super) fn tool_names(&mut self, names: &[String], place: &TomlPath) -> Vec<ToolName> {
        let mut legal = Vec::new();
        for (index, name) in names.iter().enumerate() {
            let place = place.index(index);
            if let Some(name) = self.tool_name(name, &place) {
                self.names_tool(&name, &place);
                legal.push(name);
            }
        }
        legal
    }

    pub(super) fn tool_name(&mut self, name: &str, place: &TomlPath) -> Option<ToolName> {
        let legal = ToolName::new(name).ok();
        if legal.is_none() {
            let cure = "use 1 to 128 characters of `A-Z a-z 0-9 _ . : / -`";
            self.problem(place, "this cannot name a tool", cure);
        }
        legal
    }

    /// A path, from the folder of the file on.
    pub(super) fn path(&mut self, text: &str, place: &TomlPath) -> Option<PathBuf> {
        if text.is_empty() || text.contains('\0') {
            self.problem(place, "this is no path", "name a file or a folder");
            return None;
        }
        if text.starts_with("~/") {
            let message = "`~` is a folder of that name here";
            self.findings.warning(place, message, "write the whole path of the home folder");
        }
        let path = self.folder.join(Path::new(text));
        // A child has another folder, so a relative path would lead elsewhere for it.
        Some(std::path::absolute(&path).unwrap_or(path))
    }
}
