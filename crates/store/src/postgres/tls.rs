//! Where the server is and how the way to it is secured.
//!
//! `sslmode=require` means a certificate that the system's roots vouch for (stricter than libpq, which would take
//! any). `prefer`, the default, takes what it can get; `disable` and sockets of this machine go without.

use std::sync::Arc;

use postgres::config::SslMode;
use postgres::{Client, Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{Result, StoreError};

#[derive(Clone)]
pub(super) struct Server {
    config: Config,
}

impl Server {
    pub(super) fn parse(address: &str) -> Result<Self> {
        // The error names the part that is wrong, not the password.
        let mut config: Config = address.parse().map_err(StoreError::unavailable)?;
        config.application_name("dandori");
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(std::time::Duration::from_secs(5));
        }
        Ok(Self { config })
    }

    pub(super) fn connect(&self) -> Result<Client> {
        let plain = || self.config.connect(NoTls).map_err(StoreError::unavailable_with_causes);
        match self.config.get_ssl_mode() {
            SslMode::Disable => plain(),
            SslMode::Prefer => match self.config.connect(connector()?) {
                // The server speaks TLS, but with a certificate nobody vouches for; asked for was only "if it can be".
                Err(error) if error.as_db_error().is_none() => plain(),
                other => other.map_err(StoreError::unavailable_with_causes),
            },
            _ => self.config.connect(connector()?).map_err(StoreError::unavailable_with_causes),
        }
    }
}

fn connector() -> Result<MakeRustlsConnect> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(StoreError::unavailable)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}
